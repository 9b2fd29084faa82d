/** What `status` tells about Redis: who uses it, what it holds, and since when it is away. */
import { defineKind } from '@sluice/engine'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { isMissing } from '../../../../test/support/missing-servers.ts'
import { type RedisServer, startRedis } from '../../../../test/support/redis.ts'
import { eventually, test } from '../../../../test/support/sluice.ts'

const work = defineKind('work', { run: () => new Promise<void>((resolve) => setTimeout(resolve, 60_000).unref()) })

describe.skipIf(isMissing('redis-server'))('status with Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test('[D-01] [O-06] it tells who dispatches, what Redis holds, and since when it is away', async ({ sluice, engines }) => {
    await sluice(['migrate'])
    const lanes = { api: { cap: 1 } }
    const engine = engines({
      kinds: [work],
      name: 'up here:1',
      pools: { light: { core: 2, max: 2 } },
      lanes,
      redis: redis.url,
      grace: 0,
    })
    await engine.start()
    await engine.enqueueMany([
      ...Array.from({ length: 3 }, () => work({}, { lane: 'api' })),
      work({}, { delay: '5m' }),
      ...Array.from({ length: 4 }, () => work({})),
    ])
    await eventually(() => engine.status().running === 2)
    const look = async (env = {}) => JSON.parse((await sluice(['status', '--json'], { env })).out)
    const here = { REDIS_URL: redis.url }
    const seen = await eventually(async () => {
      const { dispatch } = await look(here)
      const { pending, lag, parked, delayed } = dispatch.pools[0] ?? {}
      return pending === 2 && lag === 3 && parked === 2 && delayed === 1 && dispatch
    })
    expect(seen).toMatchObject({
      by: 'redis',
      processes: [{ name: 'up here:1', by: 'redis' }],
      pools: [{ pool: 'light', length: 5, takenOver: 0 }],
    })
    const text = (await sluice(['status'], { env: here })).out
    expect(text).toMatch(/^dispatch +Redis, for 1 of 1 process, the last connected (?:now|\d+[sm] ago)$/m)
    expect(text).toMatch(/^light +5 +2 +3 +2 +1 +0$/m)
    // Without its address one still sees who uses it.
    expect((await look()).dispatch).toMatchObject({ by: 'postgres', processes: [{ by: 'redis' }], pools: [] })

    const killedMs = Date.now()
    await redis.kill()
    const away = await eventually(async () => {
      const { dispatch } = await look(here)
      return dispatch.processes[0].by === 'postgres' && dispatch
    })
    expect(away).toMatchObject({
      by: 'postgres',
      instead: 'Redis is not there',
      processes: [{ instead: expect.stringContaining('Redis') }],
      pools: [],
    })
    const sinceMs = Date.parse(away.processes[0].since)
    expect(sinceMs).toBeGreaterThanOrEqual(killedMs)
    expect(sinceMs).toBeLessThanOrEqual(Date.now())
    const told = (await sluice(['status'], { env: here })).out
    expect(told).toMatch(/^! Redis is away for 1 process, for \w+( \w+)?: Redis .*PostgreSQL hands out their jobs\./m)
    expect(told).toMatch(/^dispatch +PostgreSQL in place of Redis, for \w+/m)
  })
})
