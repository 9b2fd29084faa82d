/** The conformance suite over both dispatchers. */
import { afterAll, beforeAll, describe } from 'vitest'
import { test } from '../../../../test/support/database.ts'
import { isMissing } from '../../../../test/support/missing-servers.ts'
import { type RedisServer, startRedis } from '../../../../test/support/redis.ts'
import { dispatcherSuite } from './dispatcher.suite.ts'

describe('dispatch by PostgreSQL', () => {
  dispatcherSuite(test, 'postgres', () => ({}))
})

describe.skipIf(isMissing('redis-server'))('dispatch by Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  dispatcherSuite(test, 'redis', () => ({ redis: redis.url }))
})
