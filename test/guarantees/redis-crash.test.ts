/**
 * Worker processes that are killed with ids in hand, before and after their claims: what they took is taken over, and the fence decides.
 */
import { describe, expect } from 'vitest'
import { laneKinds, work } from '../programs/lane-kinds.ts'
import { eventually } from '../support/database.ts'
import { isMissing } from '../support/missing-servers.ts'
import { test as base, endHolder, type Program } from '../support/processes.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'

const count = 2_000

const test = base.extend<{ redis: RedisServer }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  redis: async ({}, use) => {
    const redis = await startRedis()
    await use(redis)
    await redis.stop()
  },
})

describe.skipIf(isMissing('redis-server'))('processes that die', () => {
  test('[D-02] entries of killed processes are taken over; every job ends once, with its one effect, and Redis is left empty', async ({
    client,
    engines,
    program,
    redis,
  }) => {
    await client.query('create table effect (job bigint not null, kind text not null)')
    const enqueuer = engines({ kinds: laneKinds, redis: redis.url })
    await enqueuer.enqueueMany(
      Array.from({ length: count }, (_, n) => work({ ms: 20 }, { attempts: 50, ...(n % 2 ? { lane: `l:${n % 7}` } : {}) })),
    )
    const start = (): Program =>
      program('lane-worker', { redis: redis.url, lease: '1s', crashesMax: 100, pools: { light: { core: 5, max: 10 } } })
    const workers = Array.from({ length: 3 }, start)
    const left = async (): Promise<number> => (await client.query('select count(*)::int as n from sluice.job')).rows[0].n
    for (let killed = 1; killed <= 4; killed++) {
      await eventually(async () => (await left()) < count - killed * 300, 60_000)
      await endHolder(client, workers)
      workers.push(start())
    }
    await eventually(async () => (await left()) === 0, 90_000)
    const { rows } = await client.query(`
      select (select count(*)::int from sluice.job_ledger where state = 'succeeded') as ended, (select count(distinct id)::int from sluice.job_ledger) as jobs,
             (select count(*) = count(distinct job) from effect) as once, (select count(*)::int > 0 from sluice.attempt where outcome = 'lost') as lost`)
    expect(rows[0]).toEqual({ ended: count, jobs: count, once: true, lost: true })
    await eventually(async () => {
      const streams = await redis.client.keys('*ready:*')
      const lengths = await Promise.all(streams.map((stream) => redis.client.xlen(stream)))
      return lengths.every((length) => length === 0)
    }, 60_000)
  }, 240_000)
})
