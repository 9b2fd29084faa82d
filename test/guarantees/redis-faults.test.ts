/**
 * Redis under the worst that happens to it: emptied, its group destroyed, trimmed by hand, killed without persistence, paused, full, away. Nothing is lost,
 * nothing is done twice, work goes on over PostgreSQL meanwhile, and Redis is used again by itself when it is back.
 */
import { type Done, defineKind, done, type Engine, type EngineOptions, type Fact, type Outcome, retry } from '@sluice/engine'
import type pg from 'pg'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { test as base, eventually } from '../support/database.ts'
import { isMissing } from '../support/missing-servers.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'

const child = defineKind('child', {
  run: ({ id }) => done({ write: (tx) => tx.query('insert into effect (job) values ($1)', [id]) }),
})
const work = defineKind('work', {
  payload: z.object({ n: z.number(), ms: z.number().default(2) }),
  async run({ id, payload, attempt }): Promise<Outcome> {
    await new Promise((resolve) => setTimeout(resolve, payload.ms))
    if (attempt === 1 && payload.n % 10 === 0) return retry({ after: '20ms' })
    const write: Done['write'] = (tx) => tx.query('insert into effect (job) values ($1)', [id])
    return payload.n % 5 === 0 ? done({ write, next: [child({})] }) : done({ write })
  },
})
const pools = { light: { core: 5, max: 10 } }

interface Fixtures {
  redis: RedisServer
  /** Two started engines on it. */
  pair: (options?: Partial<EngineOptions>) => Promise<Engine[]>
}

const test = base.extend<Fixtures>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  redis: async ({}, use) => {
    const redis = await startRedis()
    await use(redis)
    await redis.stop()
  },
  pair: async ({ engines, client, redis }, use) => {
    await client.query('create table effect (job bigint not null)')
    await use(async (options) => {
      const settings: Partial<EngineOptions> = { kinds: [work, child], pools, lease: '2s', redis: redis.url, ...options }
      const both = [engines(settings), engines(settings)]
      for (const engine of both) await engine.start()
      return both
    })
  },
})

const first = (both: readonly Engine[]): Engine => both[0] as Engine

async function enqueue(engine: Engine, count: number, ms = 2): Promise<void> {
  await engine.enqueueMany(Array.from({ length: count }, (_, n) => work({ n, ms }, n % 3 === 0 ? { lane: `lane:${n % 2}` } : {})))
}

/** Every job ended well, once, and left its one effect. */
async function allOnce(client: pg.Client, count: number): Promise<void> {
  await eventually(async () => (await client.query('select from sluice.job limit 1')).rowCount === 0, 60_000)
  const { rows } = await client.query(`
    select (select count(*)::int from sluice.job_ledger where state = 'succeeded') as ended, (select count(distinct id)::int from sluice.job_ledger) as jobs,
           (select count(*)::int from effect) as effects, (select count(distinct job)::int from effect) as written`)
  const all = count + Math.ceil(count / 5)
  expect(rows[0]).toEqual({ ended: all, jobs: all, effects: all, written: all })
}

const leftOver = async (client: pg.Client): Promise<number> =>
  (await client.query(`select count(*)::int as n from sluice.job`)).rows[0].n

const by = (engine: Engine): string => engine.status().dispatch.by

/** A process that stood still for as long as an answer may take thinks for a moment that Redis gives none. */
const allBy = (both: readonly Engine[], name: string) => eventually(() => both.every((engine) => by(engine) === name), 60_000)

describe.skipIf(isMissing('redis-server'))('with Redis in trouble', () => {
  for (const [name, harm] of [
    ['FLUSHALL', async (redis) => void (await redis.client.flushall())],
    ['XGROUP DESTROY', (redis) => onStreams(redis, (stream) => redis.client.xgroup('DESTROY', stream, 'workers'))],
    ['a stream trimmed by hand', (redis) => onStreams(redis, (stream) => redis.client.xtrim(stream, 'MAXLEN', 0))],
    ['DEL of what is known', async (redis) => void (await redis.client.del(await redis.client.keys('*known')))],
  ] as [string, (redis: RedisServer) => Promise<void>][])
    test(`[D-02] [D-07] ${name}, again and again in the middle of the work, loses nothing and doubles nothing`, async ({
      redis,
      pair,
      client,
    }) => {
      const both = await pair()
      await enqueue(first(both), 1_500)
      for (let time = 1; time <= 4; time++) {
        await eventually(async () => (await leftOver(client)) < 1_500 - time * 250, 60_000)
        await harm(redis)
      }
      await allOnce(client, 1_500)
      await allBy(both, 'redis')
    })

  test('[D-07] whatever finds Redis emptied makes it good and goes on with it', async ({ redis, pair, client }) => {
    const reasons: (string | undefined)[] = []
    const observe = (fact: Fact): void => {
      if (fact.type === 'dispatch.changed' && fact.by === 'postgres') reasons.push(fact.reason)
    }
    const both = await pair({ observe })
    await enqueue(first(both), 600)
    while ((await leftOver(client)) > 100) await redis.client.flushall()
    await allOnce(client, 600)
    await allBy(both, 'redis')
    // Nobody went over to PostgreSQL, but for one that stood still itself until the answer was late.
    expect(reasons.filter((reason) => reason !== 'Redis gives no answer')).toEqual([])
  }, 240_000)

  test('[D-02] kill -9 of Redis without persistence: PostgreSQL dispatches at once, and Redis again when it is back', async ({
    redis,
    pair,
    client,
  }) => {
    const both = await pair()
    await enqueue(first(both), 1_500)
    await eventually(async () => (await leftOver(client)) < 1_200, 60_000)
    await redis.kill()
    await allBy(both, 'postgres')
    expect(first(both).status()).toMatchObject({ dispatch: { by: 'postgres', instead: expect.stringContaining('Redis') } })
    await eventually(() => first(both).status().ready)
    await enqueue(first(both), 500)
    await allOnce(client, 2_000)
    expect(both.map(by)).toEqual(['postgres', 'postgres'])
    await redis.start()
    await allBy(both, 'redis')
    await enqueue(first(both), 500)
    await allOnce(client, 2_500)
  })

  test('[D-02] CLIENT PAUSE: who gets no answer goes on over PostgreSQL', async ({ redis, pair, client }) => {
    const both = await pair()
    await enqueue(first(both), 400, 20)
    await redis.client.call('CLIENT', 'PAUSE', '8000', 'ALL')
    // Whatever was left of the others by then, these have to be offered.
    await enqueue(first(both), 100)
    await eventually(() => both.some((engine) => by(engine) === 'postgres'))
    await allOnce(client, 500)
    await allBy(both, 'redis')
    await enqueue(first(both), 100)
    await allOnce(client, 600)
  })

  test('[D-02] a full Redis refuses what is new: PostgreSQL dispatches until there is room again', async ({
    redis,
    pair,
    client,
  }) => {
    const both = await pair()
    await redis.client.config('SET', 'maxmemory', '1')
    await enqueue(first(both), 500)
    await eventually(() => both.some((engine) => by(engine) === 'postgres'))
    await allOnce(client, 500)
    await redis.client.config('SET', 'maxmemory', '0')
    await allBy(both, 'redis')
    await enqueue(first(both), 100)
    await allOnce(client, 600)
  })

  test('[D-02] an engine that finds no Redis at its start works over PostgreSQL, and takes to Redis when it comes', async ({
    redis,
    pair,
    client,
  }) => {
    await redis.kill()
    const both = await pair()
    expect(first(both).status()).toMatchObject({ dispatch: { by: 'postgres' } })
    await eventually(() => first(both).status().ready)
    await enqueue(first(both), 200)
    await allOnce(client, 200)
    await redis.start()
    await allBy(both, 'redis')
    await enqueue(first(both), 100)
    await allOnce(client, 300)
  })
})

async function onStreams(redis: RedisServer, act: (stream: string) => Promise<unknown>): Promise<void> {
  for (const stream of await redis.client.keys('*ready:*')) await act(stream)
}
