/** Lanes through the door of the engine: caps, budgets, holds, pauses, owners, breakers, fairness. */
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { type AnyKind, defineKind } from '../job/kind.ts'
import { done, retry } from '../job/outcome.ts'
import { silentLog } from '../support/log.ts'

/** A kind whose handlers wait until they are let go, and a count of how many ran at once in each lane. */
function gated(name = 'call') {
  const open: { lane: string; end: () => void }[] = []
  const most = new Map<string, number>()
  let ran = 0
  const kind = defineKind(name, {
    run: ({ lane = '' }) =>
      new Promise<void>((resolve) => {
        open.push({
          lane,
          end: () => {
            ran++
            resolve()
          },
        })
        most.set(lane, Math.max(most.get(lane) ?? 0, open.filter((one) => one.lane === lane).length))
      }),
  })
  return { kind, open, most, ran: () => ran, letGo: () => open.splice(0).forEach((one) => one.end()) }
}

const pools = { light: { core: 20, max: 20 } }

test('[E-12] a lane never runs more jobs at once than its cap, and runs them all', async ({ engines, client }) => {
  const { kind, open, most, letGo, ran } = gated()
  const engine = engines({ kinds: [kind], pools, lanes: { 'api:*': { cap: 3 } } })
  await engine.enqueueMany(Array.from({ length: 20 }, (_, n) => kind({ n }, { lane: n % 2 ? 'api:a' : 'api:b' })))
  await engine.start()
  await eventually(() => open.length === 6)
  await eventually(() => {
    letGo()
    return ran() === 20
  })
  expect(most.get('api:a')).toBe(3)
  expect(most.get('api:b')).toBe(3)
  await eventually(async () => (await client.query('select from sluice.job')).rowCount === 0)
  const { rows } = await client.query('select in_flight, in_flight_cost from sluice.lane')
  expect(rows).toEqual([
    { in_flight: 0, in_flight_cost: 0 },
    { in_flight: 0, in_flight_cost: 0 },
  ])
  expect((await client.query('select from sluice.turn')).rowCount).toBe(0)
})

test('[E-13] of a budget nobody knows one job finds out, then the rest goes as far as the floor', async ({ engines }) => {
  let calls = 0
  let left = 10
  const resetAt = new Date(Date.now() + 3_600_000)
  const kind = defineKind('call', {
    run: async ({ report }) => {
      calls++
      report({ remaining: --left, resetAt })
    },
  })
  const engine = engines({ kinds: [kind], pools, lanes: { api: { budget: { floor: 4 } } } })
  await engine.enqueueMany(Array.from({ length: 20 }, (_, n) => kind({ n }, { lane: 'api' })))
  await engine.start()
  const lane = await eventually(async () => {
    const now = await engine.lanes.find('api')
    return now && now.remaining === 4 && now.inFlight === 0 ? now : undefined
  })
  expect(calls).toBe(6)
  expect(lane).toMatchObject({ closed: true, opensAt: resetAt })
  await engine.lanes.sync('api', { remaining: 1_000, resetAt: new Date(resetAt.getTime() + 3_600_000) })
  await eventually(() => calls === 20)
})

test('[E-12] an old window never raises the budget, a newer one replaces it', async ({ engines }) => {
  const engine = engines({})
  await engine.lanes.set('api', { budget: { floor: 0 } })
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000)
  const now = at(30)
  await engine.lanes.sync('api', { remaining: 50, resetAt: now })
  await engine.lanes.sync('api', { remaining: 70, resetAt: now })
  expect((await engine.lanes.find('api'))?.remaining).toBe(50)
  await engine.lanes.sync('api', { remaining: 40, resetAt: new Date(now.getTime() + 2_000) })
  expect((await engine.lanes.find('api'))?.remaining).toBe(40)
  await engine.lanes.sync('api', { remaining: 5, resetAt: at(10) })
  expect((await engine.lanes.find('api'))?.remaining).toBe(40)
  await engine.lanes.sync('api', { remaining: 900, resetAt: at(60) })
  expect((await engine.lanes.find('api'))?.remaining).toBe(900)
})

test('[E-12] a hold ends by the clock, a pause when somebody resumes', async ({ engines }) => {
  const { kind, open, letGo } = gated()
  const engine = engines({ kinds: [kind], pools })
  await engine.lanes.pause('api', 'token revoked')
  await engine.lanes.hold('slow', new Date(Date.now() + 400))
  await engine.enqueueMany([kind({ n: 1 }, { lane: 'api' }), kind({ n: 2 }, { lane: 'slow' }), kind({ n: 3 })])
  await engine.start()
  await eventually(() => open.length === 2)
  expect(open.map(({ lane }) => lane).toSorted()).toEqual(['', 'slow'])
  expect(await engine.pauses()).toMatchObject([{ scope: 'lane', name: 'api', reason: 'token revoked', since: expect.any(Date) }])
  await engine.resume({ scope: 'lane', name: 'api' })
  await eventually(() => open.length === 3)
  letGo()
})

test('[E-21] pausing an owner stops its lanes and its jobs without a lane, in every process, and leaves others alone', async ({
  engines,
}) => {
  const { kind, open, letGo } = gated()
  const two = [engines({ kinds: [kind], pools }), engines({ kinds: [kind], pools })] as const
  await two[0].enqueueMany([
    kind({ n: 1 }, { owner: 'ann', lane: 'ann:core' }),
    kind({ n: 2 }, { owner: 'ann' }),
    kind({ n: 3 }, { owner: 'ann', lane: 'shared' }),
    kind({ n: 4 }, { owner: 'bob' }),
    kind({ n: 5 }, { owner: 'bob', lane: 'shared' }),
  ])
  await two[1].pause({ scope: 'owner', name: 'ann' }, 'token revoked')
  await two[0].enqueue(kind({ n: 6 }, { owner: 'ann' }))
  await Promise.all(two.map((engine) => engine.start()))
  await eventually(() => open.length === 2)
  expect(open.map(({ lane }) => lane).toSorted()).toEqual(['', 'shared'])
  letGo()
  await two[0].resume({ scope: 'owner', name: 'ann' })
  await eventually(() => open.length === 4)
  letGo()
})

test('[E-12] the cap of an owner spans all of its lanes and its jobs without a lane', async ({ engines, client }) => {
  const { kind, open, ran } = gated()
  const engine = engines({ kinds: [kind], pools })
  await engine.owners.set('ann', { cap: 2 })
  const lanes = ['ann:core', 'ann:graphql', undefined]
  await engine.enqueueMany(
    Array.from({ length: 18 }, (_, n) => kind({ n }, { owner: 'ann', ...(lanes[n % 3] ? { lane: lanes[n % 3]! } : {}) })),
  )
  let most = 0
  await engine.start()
  await eventually(() => open.length === 2)
  await eventually(async () => {
    const { rows } = await client.query(`select count(*)::int as n from sluice.job where worker is not null`)
    most = Math.max(most, rows[0].n)
    open.shift()?.end()
    return ran() === 18
  })
  expect(most).toBe(2)
})

test('[E-12] of holds that servers ask for the latest counts, in whatever order they come; by hand it can be shortened', async ({
  engines,
}) => {
  const engine = engines({ kinds: [] })
  const [soon, late] = [60_000, 120_000].map((ms) => new Date(Date.now() + ms)) as [Date, Date]
  await engine.owners.hold('ann', late, { atLeast: true })
  await engine.owners.hold('ann', soon, { atLeast: true })
  expect((await engine.owners.find('ann'))?.holdUntil).toEqual(late)
  await engine.owners.hold('ann', soon)
  expect((await engine.owners.find('ann'))?.holdUntil).toEqual(soon)
})

test('[E-25] a breaker opens after failures in a row, lets one job find out, and closes when that goes well', async ({
  engines,
  client,
}) => {
  let works = false
  const kind = defineKind('shaky', {
    breaker: { after: 3, cooldown: '2s' },
    run: async () => (works ? done() : retry({ after: '1ms', error: new Error('down') })),
  })
  const engine = engines({ kinds: [kind], pools: { light: { core: 1, max: 1 } } })
  await engine.enqueueMany(Array.from({ length: 6 }, (_, n) => kind({ n }, { attempts: 100 })))
  await engine.start()
  const broken = await eventually(async () => {
    const lane = await engine.lanes.find('kind:shaky')
    return lane?.brokenUntil ? lane : undefined
  })
  expect(broken.closed).toBe(true)
  expect(broken.failures).toBeGreaterThanOrEqual(3)
  const until = broken.brokenUntil as Date
  const startedIn = async (from: number, to: number): Promise<number> => {
    const text = 'select from sluice.attempt where started_at between $1 and $2'
    return (await client.query(text, [new Date(from), new Date(to)])).rowCount as number
  }
  // Claims that were under way when it opened are through after a moment; then nothing starts, and when it is over a single job does, which fails.
  const [first, second] = await eventually(async () => {
    const text = 'select started_at as at from sluice.attempt where started_at >= $1 order by started_at limit 2'
    const { rows } = await client.query<{ at: Date }>(text, [until])
    return rows.length === 2 && rows.map(({ at }) => at.getTime())
  })
  expect(await startedIn(until.getTime() - 1_500, until.getTime() - 1)).toBe(0)
  expect((second as number) - (first as number)).toBeGreaterThanOrEqual(1_999)
  works = true
  await eventually(async () => (await engine.lanes.find('kind:shaky'))?.failures === 0)
  await eventually(async () => (await client.query('select from sluice.job_ledger')).rowCount === 6)
})

test('[E-14] a single job of a stranger does not wait behind the thousands of another lane', async ({ engines }) => {
  const order: string[] = []
  const make = (name: string): AnyKind => defineKind(name, { run: async ({ lane = '' }) => void order.push(lane) })
  const kind = make('small')
  const engine = engines({ kinds: [kind], pools: { light: { core: 5, max: 5 } } })
  await engine.enqueueMany(Array.from({ length: 2_000 }, (_, n) => kind({ n }, { lane: 'big' })))
  await engine.enqueue(kind({ n: 1 }, { lane: 'small' }))
  await engine.start()
  await eventually(() => order.includes('small'))
  expect(order.indexOf('small')).toBeLessThan(15)
})

test('[E-14] short jobs of plain lanes are claimed ahead of their slots, and each runs once', async ({ engines, client }) => {
  const started: number[] = []
  const kind = defineKind('short', { payload: z.object({ n: z.number() }), run: ({ payload }) => void started.push(payload.n) })
  const complaints: string[] = []
  // An echo that is late is no complaint about jobs.
  const log = { ...silentLog, warn: (event: string) => void (event !== 'wake-ups do not arrive' && complaints.push(event)) }
  const engine = engines({ kinds: [kind], pools: { light: { core: 10, max: 10 } }, log })
  await engine.enqueueMany(Array.from({ length: 6_000 }, (_, n) => kind({ n }, { lane: `plain:${n % 40}` })))
  await engine.start()
  await eventually(async () => (await client.query('select from sluice.job limit 1')).rowCount === 0, 60_000)
  expect(started.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 6_000 }, (_, n) => n))
  expect(complaints).toEqual([])
  const { rows } = await client.query('select sum(in_flight)::int as held, count(*)::int as lanes from sluice.lane')
  expect(rows).toEqual([{ held: 0, lanes: 40 }])
}, 90_000)

test('[E-12] a cost that can never fit is refused when it is enqueued', async ({ engines }) => {
  const kind = defineKind('call', { run: async () => {} })
  const engine = engines({ kinds: [kind] })
  await engine.lanes.set('api', { budget: { floor: 100, limit: 5_000 } })
  await expect(engine.enqueue(kind({}, { lane: 'api', cost: 4_901 }))).rejects.toMatchObject({ code: 'COST_NEVER_FITS' })
  await engine.enqueue(kind({}, { lane: 'api', cost: 4_900 }))
})

test.for([1, 8])(
  '[E-14] lanes share %i slots by weight, and none waits for another to be empty',
  { timeout: 90_000 },
  async (slots, { engines }) => {
    const order: string[] = []
    const kind = defineKind('weighed', { run: async ({ lane = '' }) => void order.push(lane) })
    const lanes = { one: { weight: 1 }, two: { weight: 2 }, four: { weight: 4 } }
    const engine = engines({ kinds: [kind], pools: { light: { core: slots, max: slots } }, lanes })
    for (const lane of Object.keys(lanes))
      await engine.enqueueMany(Array.from({ length: 1_000 }, (_, n) => kind({ n }, { lane })))
    await engine.start()
    await eventually(() => order.length >= 1_400, 60_000)
    const share = (lane: string) => order.slice(0, 1_400).filter((one) => one === lane).length / 200
    // What is claimed ahead and lanes that a settle holds for a moment make it uneven in the short run.
    expect(share('one')).toBeGreaterThan(0.6)
    expect(share('one')).toBeLessThan(1.6)
    expect(share('four')).toBeGreaterThan(share('two'))
    expect(share('two')).toBeGreaterThan(share('one'))
  },
)

test('[E-12] what the server says a window holds is kept, and holds for costs from then on, unless it leaves nothing', async ({
  engines,
}) => {
  const said = [{ limit: 500 }, { limit: 50 }]
  const asked = defineKind('asked', {
    run: ({ report }) => report({ remaining: 400, resetAt: new Date(Date.now() + 3_600_000), ...said.shift() }),
  })
  const engine = engines({ kinds: [asked], pools, lanes: { 'api:*': { budget: { floor: 100 } } } })
  await engine.start()
  const limit = async (): Promise<number | null | undefined> => (await engine.lanes.find('api:a'))?.limit
  for (const left of [1, 0]) {
    await engine.enqueue(asked({}, { lane: 'api:a' }))
    await eventually(async () => said.length === left && (await limit()) === 500)
  }
  await expect(engine.enqueue(asked({}, { lane: 'api:a', cost: 401 }))).rejects.toMatchObject({ code: 'COST_NEVER_FITS' })
  await engine.lanes.sync('api:a', { remaining: 10, limit: 600 })
  expect(await limit()).toBe(600)
})

test('[E-12] closed lanes in front of an open one do not hold it up, and their jobs are left alone', async ({
  engines,
  client,
}) => {
  const { kind, open, letGo } = gated()
  const engine = engines({ kinds: [kind], pools })
  const closed = Array.from({ length: 100 }, (_, n) => `closed:${n}`)
  await Promise.all(closed.map((lane) => engine.lanes.pause(lane, 'off')))
  await engine.enqueueMany(closed.map((lane) => kind({}, { lane })))
  await engine.enqueue(kind({}, { lane: 'open' }))
  await engine.start()
  await eventually(() => open.length === 1)
  expect(open[0]?.lane).toBe('open')
  const { rows } = await client.query(
    `select count(*)::int as n from sluice.job where lane like 'closed:%' and shelf is null and worker is null and attempt = 0`,
  )
  expect(rows[0].n).toBe(100)
  letGo()
})

test('[E-13] of the times that are said for the end of one window the latest counts', async ({ engines }) => {
  const engine = engines({})
  await engine.lanes.set('api', { budget: { floor: 0 } })
  const resetAt = new Date(Date.now() + 60_000)
  const later = new Date(resetAt.getTime() + 300)
  for (const said of [resetAt, later, resetAt]) await engine.lanes.sync('api', { remaining: 5, resetAt: said })
  expect((await engine.lanes.find('api'))?.resetAt).toEqual(later)
})

test('[E-12] [E-20] lanes and pools whose queues share a number keep their jobs, caps and pauses apart', async ({
  engines,
  client,
}) => {
  const { kind, open, letGo, ran } = gated()
  const engine = engines({ kinds: [kind], pools: { ...pools, heavy: { core: 5, max: 5 } }, lanes: { 'api:*': { cap: 2 } } })
  await engine.migrate()
  // It happens to one pair of lanes in 10^14; here it happens to all.
  await client.query(`
    create or replace function sluice.queue_of(pool text, lane text) returns bigint language sql immutable parallel safe as $$ select 7::bigint $$;
    reindex index sluice.job_queue`)
  await engine.pause({ scope: 'lane', name: 'api:b' })
  await engine.enqueueMany([
    ...Array.from({ length: 6 }, (_, n) => kind({ n }, { lane: 'api:a' })),
    ...Array.from({ length: 6 }, (_, n) => kind({ n }, { lane: 'api:b' })),
    ...Array.from({ length: 6 }, (_, n) => kind({ n }, { pool: 'heavy' })),
    kind({ n: 'open' }),
  ])
  await engine.start()
  await eventually(() => open.length === 2 + 5 + 1)
  expect(open.filter(({ lane }) => lane === 'api:a')).toHaveLength(2)
  expect(open.filter(({ lane }) => lane === '')).toHaveLength(6)
  await eventually(() => {
    letGo()
    return ran() === 6 + 6 + 1
  })
  await engine.resume({ scope: 'lane', name: 'api:b' })
  await eventually(() => {
    letGo()
    return ran() === 19
  })
  await eventually(async () => (await client.query('select from sluice.job')).rowCount === 0)
})
