/**
 * `XGROUP DELCONSUMER` by hand. The pending entries of that consumer vanish with it: they stay in the stream, behind what was delivered, where neither a read nor a
 * takeover finds them. The leader sees that PostgreSQL says ready while nobody was handed the entry, and offers the job again.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { defineKind } from '@sluice/engine'
import { describe, expect } from 'vitest'
import { test as base, eventually } from '../support/database.ts'
import { isMissing } from '../support/missing-servers.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'

const test = base.extend<{ redis: RedisServer }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  redis: async ({}, use) => {
    const redis = await startRedis()
    await use(redis)
    await redis.stop()
  },
})

describe.skipIf(isMissing('redis-server'))('a consumer removed by hand', () => {
  test.for(['open lane', 'lane'])(
    '[D-02] ids that a consumer had been handed when it was removed are offered again, once each: %s',
    async (where, { engines, redis, client }) => {
      const lane = where === 'lane' ? 'api' : ''
      const ran: number[] = []
      const kind = defineKind('work', { run: ({ id }) => void ran.push(id) })
      const settings = { kinds: [kind], redis: redis.url, lanes: { api: { cap: 20 } }, lease: '4s' as const }
      const engine = engines({ ...settings, pools: { light: { core: 1, max: 1 } } })
      await engine.start()
      await engine.enqueue(kind({}))
      await eventually(() => ran.length === 1)
      const stream = (await redis.client.keys('*ready:*')).find((key) => key.endsWith(lane === '' ? ':2' : ':4')) as string
      // Somebody takes ids as fast as they come, and never claims them.
      const thief = redis.client.duplicate()
      const stolen: unknown[] = []
      const over = new AbortController()
      const theft = (async () => {
        while (!over.signal.aborted) {
          const got = await thief.xreadgroup('GROUP', 'workers', 'thief', 'COUNT', 100, 'BLOCK', 50, 'STREAMS', stream, '>')
          stolen.push(...((got as [string, unknown[]][] | null)?.[0]?.[1] ?? []))
        }
      })()
      while (stolen.length < 10) {
        await engine.enqueueMany(Array.from({ length: 20 }, () => kind({}, lane === '' ? {} : { lane })))
        await wait(20)
      }
      over.abort()
      await theft
      thief.disconnect()
      expect(await redis.client.xgroup('DELCONSUMER', stream, 'workers', 'thief')).toBeGreaterThan(0)
      await eventually(async () => (await client.query('select from sluice.job limit 1')).rowCount === 0, 60_000)
      const { rows } = await client.query('select count(*)::int as jobs from sluice.job_ledger')
      expect([ran.length, new Set(ran).size]).toEqual([rows[0].jobs, rows[0].jobs])
      await eventually(() => engine.status().dispatch.by === 'redis')
      await eventually(async () => (await redis.client.xlen(stream)) === 0)
    },
  )
})
