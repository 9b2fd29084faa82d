/**
 * Redis away for long, in the middle of the work. Twelve seconds stand for a minute: attempts to connect follow one another at 100 ms, 200 ms and so on to one second, so the
 * longest pause between two of them comes about ten times, commands fail, blocked reads are cut off, and every heartbeat of a two-second lease passes several times
 * without it. A minute repeats the last of these. Before it goes, work is in every place it can be in: streams, lanes, delayed, running.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { type Done, defineKind, done, type Outcome, retry } from '@sluice/engine'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { test as base, eventually } from '../support/database.ts'
import { isMissing } from '../support/missing-servers.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'

const awayMs = 12_000
const everyMs = 40

const test = base.extend<{ redis: RedisServer }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  redis: async ({}, use) => {
    const redis = await startRedis()
    await use(redis)
    await redis.stop()
  },
})

describe.skipIf(isMissing('redis-server'))('Redis away for long', () => {
  test('[D-02] work goes on without it and with it again, nothing is lost and nothing done twice', async ({
    engines,
    client,
    redis,
  }) => {
    await client.query('create table effect (n int not null, ended_at timestamptz not null default clock_timestamp())')
    const work = defineKind('work', {
      payload: z.object({ n: z.number() }),
      async run({ payload: { n }, attempt }): Promise<Outcome> {
        await wait(5)
        if (attempt === 1 && n % 10 === 0) return retry({ after: '200ms' })
        const write: Done['write'] = (tx) => tx.query('insert into effect (n) values ($1)', [n])
        return done({ write })
      },
    })
    const lanes = { 'tight:*': { cap: 3 } }
    const settings = { kinds: [work], lanes, pools: { light: { core: 4, max: 8 } }, lease: '2s' as const, redis: redis.url }
    const both = [engines(settings), engines(settings)]
    for (const engine of both) await engine.start()
    const [first] = both as [(typeof both)[0]]

    let count = 0
    const over = new AbortController()
    const request = (): ReturnType<typeof work> => {
      const n = count++
      if (n % 4 === 0) return work({ n }, { lane: `tight:${n % 3}` })
      return n % 7 === 0 ? work({ n }, { delay: '300ms' }) : work({ n }, { priority: n % 5 === 0 ? 10 : 0 })
    }
    const enqueuing = (async () => {
      while (!over.signal.aborted) {
        await first.enqueueMany([request(), request(), request()])
        await first.enqueue(request())
        await wait(everyMs)
      }
    })()
    const ended = async (): Promise<number> => (await client.query('select count(*)::int as n from effect')).rows[0].n
    const by = (): string[] => both.map((engine) => engine.status().dispatch.by)
    await eventually(async () => (await ended()) > 200, 30_000)

    await redis.kill()
    await eventually(() => by().every((one) => one === 'postgres'))
    const before = { ended: await ended(), count }
    await wait(awayMs)
    expect(by()).toEqual(['postgres', 'postgres'])
    // What came while it was away ended while it was away; a busy machine takes longer for it.
    await eventually(async () => count > before.count + 400 && (await ended()) > before.ended + 200, 60_000)
    await eventually(() => both.every((engine) => engine.status().ready))
    expect(by()).toEqual(['postgres', 'postgres'])
    for (const engine of both) expect(engine.status()).toMatchObject({ dispatch: { since: expect.any(Date) } })

    await redis.start()
    await eventually(() => by().every((one) => one === 'redis'))
    const back = await ended()
    // It came back empty: every entry it has seen is new.
    await eventually(async () => /cmdstat_xadd:calls=\d{3}/.test(await redis.client.info('commandstats')))
    await eventually(async () => (await ended()) > back + 200, 30_000)
    over.abort()
    await enqueuing
    await eventually(async () => (await client.query('select from sluice.job limit 1')).rowCount === 0, 60_000)
    const { rows } = await client.query(`
      select (select count(*)::int from effect) as effects, (select count(distinct n)::int from effect) as written,
             (select count(*)::int from sluice.job_ledger where state = 'succeeded') as ended`)
    expect(rows[0]).toEqual({ effects: count, written: count, ended: count })
    await eventually(() => by().every((one) => one === 'redis'))
    console.log(`Redis away for ${awayMs} ms: ${count} jobs, ${back - before.ended} of them ended meanwhile`)
  }, 300_000)
})
