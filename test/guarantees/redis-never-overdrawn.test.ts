/**
 * Eight worker processes on one lane through Redis, answers that arrive out of order, and processes that are killed in mid-call. The server that sets the
 * budget is a process of its own and counts what it had to refuse.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { call, laneKinds } from '../programs/lane-kinds.ts'
import { eventually } from '../support/database.ts'
import { isMissing } from '../support/missing-servers.ts'
import { test as base, endHolder, type Program } from '../support/processes.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'

const limit = 120
const floor = 6
/** Long enough for what a kill may cost: a lease (1 s), somebody else in office who finds it dead, and time left to spend the window. */
const oracleSettings = { limit, windowMs: 6_000, jitterMs: 1_000, delayMs: 120, cachedShare: 0.1 }
const sceneMs = 36_000

const test = base.extend<{ redis: RedisServer }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  redis: async ({}, use) => {
    const redis = await startRedis()
    await use(redis)
    await redis.stop()
  },
})

describe.skipIf(isMissing('redis-server'))('one lane, eight processes, Redis', () => {
  test('[D-03] [D-04] [E-12] [E-13] no budget is overdrawn, and most of it is used, though processes die and Redis is emptied', async ({
    client,
    engines,
    program,
    redis,
  }) => {
    const oracle = program('budget-oracle', oracleSettings)
    const url = String((await oracle.hears('url'))['url'])
    const lanes = { 'api:one': { budget: { floor, limit } } }
    const enqueuer = engines({ kinds: laneKinds, lanes, redis: redis.url })
    await enqueuer.enqueueMany(
      Array.from({ length: 2_000 }, () => call({ url: `${url}/one` }, { lane: 'api:one', attempts: 50 })),
    )
    const start = (): Program =>
      program('lane-worker', {
        lanes,
        redis: redis.url,
        lease: '1s',
        grace: '100ms',
        crashesMax: 100,
        pools: { light: { core: 4, max: 4 } },
      })
    const workers = Array.from({ length: 8 }, start)
    await eventually(
      async () => (await client.query(`select from sluice.lane where remaining is not null`)).rowCount === 1,
      60_000,
    )
    // What is left unused counts from the first window on that began when all were there.
    for (const worker of workers) await worker.hears('worker')
    oracle.tell({ report: 'start' })
    const started = (await oracle.hears('report', 'start')) as unknown as { windows: Record<string, number[]> }
    for (const harm of ['SIGKILL', 'flush', 'SIGTERM', 'SIGKILL'] as const) {
      await wait(sceneMs / 5)
      if (harm === 'flush') {
        await redis.client.flushall()
        continue
      }
      await endHolder(client, workers, harm)
      workers.push(start())
    }
    await wait(sceneMs / 5)
    oracle.tell({ report: 'end' })
    const { calls, refused, windows } = (await oracle.hears('report', 'end')) as unknown as Record<
      string,
      Record<string, number | number[]>
    >
    const whole = ((windows?.['/one'] ?? []) as number[]).slice((started.windows['/one'] ?? []).length + 1)
    const unused = whole.reduce((sum, used) => sum + Math.max(0, limit - floor - used), 0) / ((limit - floor) * whole.length)
    console.log(`never overdrawn on Redis: ${JSON.stringify({ calls, refused, windows, unused })}`)
    expect(refused).toEqual({})
    expect(whole.length).toBeGreaterThan(2)
    expect(unused).toBeLessThan(0.3)
    expect((await client.query(`select from sluice.job where shelf is null and worker is null`)).rowCount).toBeGreaterThan(100)
  }, 240_000)
})
