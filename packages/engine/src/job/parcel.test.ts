/** Parcels: jobs that were stored together share one entry in the queue. Nobody notices: order, steering, counts and ends are those of jobs with entries of their own. */
import fc from 'fast-check'
import pg from 'pg'
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from './kind.ts'

const many = 40
const job = defineKind('job', { run: () => {} })
const jobs = (from: number, count = many) => Array.from({ length: count }, (_, at) => job({ n: from + at }))
const numbers = (from: number, count = many) => Array.from({ length: count }, (_, at) => from + at)

const registerWorker = `insert into sluice.worker (id, name, kinds, lease_until) values (1000, 'test', '{job}', 'infinity') on conflict do nothing`

/** The numbers of what a claim of so many got, in order. */
async function claim(client: pg.Client, slots: number, unknown: string[] = []): Promise<number[]> {
  await client.query(registerWorker)
  const { rows } = await client.query<{ n: number }>(
    `select (payload::jsonb -> 'n')::int as n from sluice.claim('light', 1000, $1, -9e15::bigint, $2) order by rank, id`,
    [slots, unknown],
  )
  return rows.map(({ n }) => n)
}

async function settle(client: pg.Client, outcome: string, delayMs = 0): Promise<void> {
  await client.query(
    `select sluice.settle(1000, array_agg(id), array_agg(fence), array_agg($1::text), array_agg($2::float8), array_agg(null::timestamptz), array_agg(null::jsonb), array_agg(null::int), null, true)
     from sluice.job where worker = 1000`,
    [outcome, delayMs],
  )
}

const count = async (client: pg.Client, what: string): Promise<number> =>
  (await client.query<{ n: number }>(`select count(*)::int as n from ${what}`)).rows[0]!.n

test('[E-24] a group of jobs that differ in their payload only shares an entry, few and very many do not', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [job] })
  await engine.enqueueMany(jobs(0))
  await engine.enqueueMany(jobs(100, 5))
  await Promise.all(jobs(200).map((one) => engine.enqueue(one)))
  expect(await count(client, 'sluice.parcel')).toBe(2)
  expect(await count(client, 'sluice.job where parcel is null')).toBeLessThan(10)
  expect(await count(client, 'sluice.queued where worker is null')).toBe(2 * many + 5)
  await engine.enqueueMany(jobs(10_000, 501))
  expect(await count(client, 'sluice.parcel')).toBe(2)
  expect((await claim(client, 2 * many + 5)).toSorted((a, b) => a - b)).toEqual([
    ...numbers(0),
    ...numbers(100, 5),
    ...numbers(200),
  ])
})

test('[E-03] parcels and single jobs are claimed in the order in which they came, whatever a claim asks for', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [job] })
  await engine.enqueueMany(jobs(0, 3))
  await engine.enqueueMany(jobs(3, 37))
  await engine.enqueue(job({ n: 40 }))
  await engine.enqueueMany(jobs(41, 39))
  await engine.enqueueMany(jobs(80, 2))
  const urgent = job({ n: 1_000 }, { priority: 5 })
  await engine.enqueue(urgent)
  const got: number[] = []
  for (const slots of [2, 10, 40, 1, 25, 100]) got.push(...(await claim(client, slots)))
  expect(got).toEqual([1_000, ...numbers(0, 82)])
})

test('[E-03] what became ready in the same millisecond is claimed in the order of its ids, in parcels or not', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [job] })
  for (const [from, size] of [
    [0, 1],
    [1, 20],
    [21, 20],
    [41, 1],
    [42, 1],
    [43, 16],
    [59, 1],
  ] as const)
    await engine.enqueueMany(jobs(from, size))
  // The first of each parcel has left it, and stands where that begins.
  const leave = `update sluice.job j set parcel = null from sluice.parcel p where j.id = p.first`
  for (const slots of [1, 5, 19, 30, 100]) {
    await client.query('update sluice.job set rank = 1, worker = null, fence = 0')
    if (slots === 30) await client.query(leave)
    await client.query('update sluice.parcel set rank = 1, next = first')
    const got: number[] = []
    while (got.length < 60) {
      const some = await claim(client, slots)
      expect(some).toHaveLength(Math.min(slots, 60 - got.length))
      got.push(...some)
    }
    expect(got).toEqual(numbers(0, 60))
  }
})

test('[E-03] [E-23] what goes back keeps its place: it is claimed before what its parcel still has', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [job] })
  await engine.enqueueMany(jobs(0))
  expect(await claim(client, 10)).toEqual(numbers(0, 10))
  await settle(client, 'handed back')
  expect(await claim(client, 8)).toEqual(numbers(0, 8))
  await settle(client, 'handed back')
  for (const from of [0, 15, 30]) expect(await claim(client, 15)).toEqual(numbers(from, Math.min(15, many - from)))
})

test('[E-24] a claim reads no more where many parcels wait', async ({ engines, client }) => {
  const engine = engines({ kinds: [job] })
  const pagesOfClaim = async (): Promise<number> => {
    const { rows } = await client.query(
      `explain (analyze, buffers, format json) select id from sluice.claim('light', 1000, 1, -9e15::bigint, '{}')`,
    )
    return rows[0]['QUERY PLAN'][0].Plan['Shared Hit Blocks']
  }
  await engine.enqueueMany(jobs(0))
  await claim(client, 1)
  await pagesOfClaim() // and plans
  const few = await pagesOfClaim()
  await client.query(`
    insert into sluice.job (kind, pool, rank, payload, max_attempts, created_at, parcel)
    select 'job', 'light', 8e12::bigint + n / 16, '{}', 5, now(), 1000000 + n / 16 from generate_series(0, 79999) n`)
  await client.query(`
    insert into sluice.parcel (id, pool, kind, rank, first, next, last)
    select parcel, 'light', kind, min(rank), min(id), min(id), max(id) from sluice.job where parcel >= 1000000 group by parcel, kind`)
  expect(await pagesOfClaim()).toBeLessThan(few + 20)
})

test('[E-03] [E-24] whatever happens to jobs in parcels, claims get what is ready, in order, and nothing is left behind', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [job] })
  await engine.migrate()
  const step = fc.oneof(
    fc.record({ what: fc.constant('together' as const), jobs: fc.integer({ min: 16, max: 24 }) }),
    fc.record({ what: fc.constant('alone' as const), priority: fc.integer({ min: 0, max: 1 }) }),
    fc.record({ what: fc.constant('claim' as const), slots: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ what: fc.constantFrom('done' as const, 'handed back' as const, 'retry' as const, 'lost' as const) }),
    fc.record({ what: fc.constant('cancel' as const), nth: fc.nat(40) }),
    fc.record({ what: fc.constant('park' as const) }),
  )
  // Jobs of one group became ready at the same moment: which of them goes first is nobody's business.
  const due = async (slots: number): Promise<number[]> => {
    const text = `select rank::float8 from sluice.job where shelf is null and worker is null and crashes < 2 order by rank limit $1`
    return (await client.query<{ rank: number }>(text, [slots])).rows.map(({ rank }) => rank)
  }
  const claimed = async (slots: number): Promise<number[]> => {
    await client.query(registerWorker)
    const text = `select rank::float8 from sluice.claim('light', 1000, $1, -9e15::bigint, '{}') order by rank`
    return (await client.query<{ rank: number }>(text, [slots])).rows.map(({ rank }) => rank)
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
      await client.query('truncate sluice.job, sluice.parcel, sluice.worker')
      await client.query(`update sluice.leader set term = 1, worker = 1000, until = 'infinity'`)
      let n = 0
      for (const [at, one] of steps.entries()) {
        await client.query(`select set_config('sluice.clock_offset', $1, false)`, [`${at * 5} milliseconds`]) // no two steps have the same rank
        if (one.what === 'together') await engine.enqueueMany(jobs((n += 100), one.jobs), { client })
        else if (one.what === 'alone') await engine.enqueue(job({ n: (n += 100) }, { priority: one.priority }), { client })
        else if (one.what === 'claim') {
          const wanted = await due(one.slots)
          expect(await claimed(one.slots)).toEqual(wanted)
        } else if (one.what === 'cancel')
          await client.query(
            `select sluice.cancel(array(select id from sluice.job where worker is null order by id offset $1 limit 1), null)`,
            [one.nth],
          )
        else if (one.what === 'park') {
          await client.query(`insert into sluice.pause (scope, name) values ('kind', 'job')`)
          await client.query('select sluice.park(1, 15)')
          expect(await claimed(100)).toEqual([])
          await client.query(`delete from sluice.pause`)
          await client.query('select sluice.park(1, 1000)')
        } else if (one.what === 'lost') {
          await client.query(`update sluice.worker set lease_until = '-infinity'`)
          await client.query('select sluice.rescue(1, 99, false)')
        } else await settle(client, one.what)
        expect(await count(client, 'sluice.queued')).toBe(await count(client, 'sluice.job where shelf is null'))
      }
      await client.query('update sluice.job set crashes = 0')
      const left = await due(10_000)
      expect(await claimed(10_000)).toEqual(left)
      await settle(client, 'done')
      await client.query('select sluice.park(1, 10)')
      expect(await count(client, 'sluice.job')).toBe(0)
      expect(await count(client, 'sluice.parcel')).toBe(0)
    }),
    { numRuns: 40 },
  )
}, 60_000)

test('[E-03] a job in somebody’s hand stays in its parcel until he lets it go', async ({ engines, client, database }) => {
  const engine = engines({ kinds: [job] })
  await engine.enqueueMany(jobs(0))
  const stranger = new pg.Client(database.url)
  await stranger.connect()
  await stranger.query(`begin; select from sluice.job where (payload -> 'n')::int in (3, 4, 39) for update`)
  expect(await claim(client, 100)).toEqual(numbers(0).filter((n) => ![3, 4, 39].includes(n)))
  await settle(client, 'done')
  await stranger.query('rollback')
  await stranger.end()
  expect(await claim(client, 100)).toEqual([3, 4, 39])
  expect(await count(client, 'sluice.parcel where next <= last')).toBe(0)
})

test('[E-07] a claim that is rolled back leaves its jobs where they were', async ({ engines, client, database }) => {
  const engine = engines({ kinds: [job] })
  await engine.enqueueMany(jobs(0))
  await client.query(registerWorker)
  const other = new pg.Client(database.url)
  await other.connect()
  await other.query('begin')
  expect(await claim(other, 10)).toEqual(numbers(0, 10))
  expect(await claim(client, 10)).toEqual(numbers(10, 10))
  await other.query('rollback')
  await other.end()
  expect(await claim(client, 100)).toEqual([...numbers(0, 10), ...numbers(20, 20)])
})

test('[E-05] a job whose payload is replaced or which is put off leaves its parcel and runs once', async ({
  engines,
  client,
}) => {
  const keyed = defineKind('job', { dedupe: 'keep', run: () => {} })
  const engine = engines({ kinds: [keyed] })
  await engine.enqueueMany(Array.from({ length: many }, (_, n) => keyed({ n })))
  const { rows } = await client.query<{ key: string }>(
    `select substr(key, 5) as key from sluice.job where (payload -> 'n')::int in (5, 6) order by id`,
  )
  // A default key is `kind=payload`, one that somebody gives `kind/key`: these jobs get theirs by hand.
  await client.query(`update sluice.job set key = 'job/' || (payload ->> 'n') where (payload -> 'n')::int in (5, 6)`)
  expect(rows).toHaveLength(2)
  await client.query(`select sluice.enqueue('job', '{"n": 500}', key => '5', mode => 'replace')`)
  await client.query(`select sluice.enqueue('job', '{"n": 600}', key => '6', mode => 'debounce', delay => '1 h')`)
  const rest = numbers(0).filter((n) => n !== 5 && n !== 6)
  expect((await claim(client, 100)).toSorted((a, b) => a - b)).toEqual([...rest, 500])
  expect(await count(client, `sluice.job where shelf = 'scheduled'`)).toBe(1)
})

test('[E-07] a worker leaves parcels of kinds that it does not know', async ({ engines, client }) => {
  const engine = engines({ kinds: [job, defineKind('strange', { run: () => {} })] })
  await engine.enqueueMany(Array.from({ length: many }, (_, n) => ({ kind: 'strange', payload: { n: n + 500 } })))
  await engine.enqueueMany(jobs(0))
  expect(await claim(client, 100, ['strange'])).toEqual(numbers(0))
  expect(await claim(client, 100)).toEqual(numbers(500))
})

test('[E-24] parcels that nobody here can take keep no others from being cleared away', async ({ engines, client }) => {
  const engine = engines({ kinds: [job, defineKind('strange', { run: () => {} })] })
  await engine.migrate()
  const strangers = Array.from({ length: 20 }, (_, n) => ({ kind: 'strange', payload: { n: n + 500 } }))
  for (let at = 0; at < 10; at++)
    await engine.enqueueMany(
      strangers.map(({ kind, payload }) => ({ kind, payload: { ...payload, at } })),
      { client },
    )
  for (let at = 0; at < 5; at++) {
    await engine.enqueueMany(jobs(at * 100))
    expect(await claim(client, 100, ['strange'])).toHaveLength(many)
    await settle(client, 'done')
  }
  expect(await count(client, `sluice.parcel where kind = 'job'`)).toBeLessThanOrEqual(1)
})

test('[E-24] one long job keeps its parcel and no other', async ({ engines, client }) => {
  const engine = engines({ kinds: [job] })
  for (let at = 0; at < 4; at++) await engine.enqueueMany(jobs(at * 100))
  expect(await claim(client, 1)).toEqual([0])
  await client.query(`update sluice.job set worker = 2000 where worker = 1000`)
  expect(await claim(client, 1_000)).toHaveLength(4 * many - 1)
  await settle(client, 'done')
  await client.query(`update sluice.leader set term = 1, worker = 1000, until = 'infinity'`)
  const { rows } = await client.query(`select chores from sluice.beat(1000, 60000, '{light}', '{}', true, '{}')`)
  expect(rows).toEqual([{ chores: true }])
  await client.query('select sluice.park(1, 10)')
  expect(await count(client, 'sluice.parcel')).toBe(1)
  expect((await client.query(`select id from sluice.queued where worker = 2000`)).rows).toHaveLength(1)
})

test('[E-11] the heartbeat tells of jobs in parcels, and of none that cannot be had', async ({ engines, client }) => {
  const engine = engines({ kinds: [job] })
  await engine.enqueueMany(jobs(0))
  await client.query(registerWorker)
  const ready = async (unknown: string[] = []): Promise<string[]> =>
    (await client.query(`select ready from sluice.beat(1000, 60000, '{light}', $1, false, '{}')`, [unknown])).rows[0].ready
  expect(await ready()).toEqual(['light'])
  expect(await ready(['job'])).toEqual([])
  await client.query(`insert into sluice.pause (scope, name) values ('kind', 'job')`)
  expect(await ready()).toEqual([])
  await client.query('delete from sluice.pause')
  await claim(client, many)
  expect(await ready()).toEqual([])
})

test('[E-24] people see jobs in parcels as they see all others', async ({ engines, client }) => {
  const engine = engines({ kinds: [job] })
  const { 0: first, 39: last } = await engine.enqueueMany(jobs(0))
  await claim(client, 4)
  const overview = await client.query(`select state, jobs from sluice.count_jobs(100) where jobs > 0 order by 1`)
  expect(overview.rows).toEqual([
    { state: 'ready', jobs: many - 4 },
    { state: 'running', jobs: 4 },
  ])
  const { rows: pools } = await client.query(`select name, ready, job::int from sluice.list_pools(100)`)
  expect(pools).toEqual([{ name: 'light', ready: many - 4, job: first!.id + 4 }])
  const { rows: running } = await client.query('select ids from sluice.running_jobs(100)')
  expect(running[0].ids).toHaveLength(4)
  expect((await client.query('select jobs from sluice.count_orphans(100)')).rows).toEqual([{ jobs: 0 }])
  await client.query(`delete from sluice.worker`)
  expect((await client.query('select jobs from sluice.count_orphans(100)')).rows).toEqual([{ jobs: 4 }])
  await client.query(
    `insert into sluice.worker (name, kinds, pools, lease_until) values ('other', '{job}', '{"light": {"max": 50}}', 'infinity')`,
  )
  expect((await engine.why(last!.id)).text).toContain(`${many - 5} jobs go first`)
})

test('[E-23] [E-24] a parcel is gone when the last of its jobs is, without anybody who asks', async ({ engines, client }) => {
  const engine = engines({ kinds: [job], lease: '1s' })
  await engine.start()
  await engine.enqueueMany(jobs(0, 200))
  await eventually(async () => (await count(client, 'sluice.job')) === 0)
  await eventually(async () => (await count(client, 'sluice.parcel')) === 0)
})

test('[E-01] the table refuses a job that comes back and stays in its parcel', async ({ engines, client }) => {
  const engine = engines({ kinds: [job] })
  await engine.enqueueMany(jobs(0))
  await claim(client, 1)
  await expect(client.query('update sluice.job set worker = null where worker is not null')).rejects.toMatchObject({
    code: '23514',
  })
  await expect(client.query(`update sluice.job set shelf = 'failed' where worker is null`)).rejects.toMatchObject({
    code: '23514',
  })
})
