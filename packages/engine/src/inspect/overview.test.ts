/** The whole on one page, and what a doctor looks at. */
import pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'
import { fail } from '../job/outcome.ts'

const note = defineKind('note', { payload: z.looseObject({}), run: () => {} })
const bad = defineKind('bad', { payload: z.looseObject({}), run: () => fail('no') })
const heavy = defineKind('heavy', { payload: z.looseObject({}), pool: 'heavy', run: () => {} })
const slow = defineKind('slow', {
  payload: z.looseObject({}),
  run: ({ signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
})

test('[O-06] the overview of an engine that has seen nothing', async ({ engines }) => {
  const overview = await engines().inspect.overview()
  const none = { count: 0, more: false }
  expect(overview).toMatchObject({
    jobs: { scheduled: none, ready: none, paused: none, running: none, failed: none },
    runs: { created: none, running: none, finalizing: none, completed: none, failed: none, canceled: none },
    pools: [],
    workers: { alive: 0, stopping: 0, lost: 0 },
    leader: { worker: undefined },
    lanesClosed: none,
    deadLetters: [],
  })
  expect(overview.oldestReady).toBeUndefined()
})

test('[O-06] the overview tells what waits, runs and failed, who works and what is closed', async ({ engines, client }) => {
  const engine = engines({ kinds: [note, bad, slow, heavy], pools: { light: { core: 2, max: 4 } } })
  await engine.start()
  await engine.enqueue(bad({}))
  await eventually(async () => (await client.query(`select from sluice.job where shelf = 'failed'`)).rowCount === 1)
  await engine.enqueue(slow({}))
  await eventually(() => engine.status().running === 1)
  const first = await engine.enqueue(heavy({ n: 1 }))
  await engine.enqueue(heavy({ n: 2 }, { priority: 1 }))
  await engine.enqueue(note({}, { delay: '1h' }))
  await engine.lanes.pause('shut')
  await engine.lanes.set('open', { cap: 2 })
  const overview = await engine.inspect.overview()
  expect(overview.jobs).toEqual({
    scheduled: { count: 1, more: false },
    ready: { count: 2, more: false },
    paused: { count: 0, more: false },
    running: { count: 1, more: false },
    failed: { count: 1, more: false },
  })
  expect(overview.pools).toMatchObject([
    { name: 'heavy', workers: 0, core: 0, max: 0, running: 0, ready: { count: 2, more: false }, paused: null },
    { name: 'light', workers: 1, core: 2, max: 4, ready: { count: 0, more: false } },
  ])
  expect(overview.workers).toEqual({ alive: 1, stopping: 0, lost: 0 })
  expect(overview.leader.worker).toBe(engine.status().worker)
  expect(overview.lanesClosed).toEqual({ count: 1, more: false })
  expect(overview.deadLetters).toMatchObject([{ kind: 'bad', count: 1 }])
  // The one with priority is next in line, and has been ready since it was enqueued.
  const { createdAt } = (await engine.find(overview.oldestReady!.job))!
  expect(overview.oldestReady!.job).toBeGreaterThan(first.id)
  expect(Math.abs(overview.oldestReady!.since.getTime() - createdAt.getTime())).toBeLessThan(10_000)
})

test('[O-06] pools that are paused say why, and jobs in lanes are in line as well', async ({ engines }) => {
  const engine = engines({ kinds: [note] })
  const { id } = await engine.enqueue(note({}, { lane: 'l' }))
  await engine.pause({ scope: 'pool', name: 'light' }, 'moving house')
  expect(await engine.inspect.pools()).toMatchObject([
    { name: 'light', workers: 0, ready: { count: 1, more: false }, next: { job: id }, paused: { reason: 'moving house' } },
  ])
})

test('[O-06] a pool that only jobs name is there, without anybody who works for it', async ({ engines }) => {
  const engine = engines({ kinds: [note] })
  for (const pool of ['nowhere', 'elsewhere']) await engine.enqueue(note({}, { pool }))
  const seen = await engine.inspect.pools()
  expect(seen.map(({ name, workers, ready }) => [name, workers, ready.count])).toEqual([
    ['elsewhere', 0, 1],
    ['light', 0, 0],
    ['nowhere', 0, 1],
  ])
})

test('[O-06] counts end at their limit and say so', async ({ engines, client }) => {
  const { inspect } = engines()
  await inspect.overview()
  await client.query(
    `insert into sluice.job (kind, pool, shelf, rank, payload, max_attempts, created_at, run_at)
     select 'note', 'light', s, n, '{}', 5, now(), now()
     from generate_series(1, 10100) n, unnest('{null,scheduled,failed,paused}'::sluice.job_state[]) s`,
  )
  const { jobs } = await inspect.overview()
  const many = { count: 10_000, more: true }
  expect(jobs).toMatchObject({ scheduled: many, failed: many, paused: many, ready: { more: true } })
  expect(jobs.ready.count).toBeGreaterThanOrEqual(10_000)
})

test('[O-06] health: the server, the schema, the clocks, listeners and the days of the ledger', async ({ engines }) => {
  const engine = engines({ kinds: [note] })
  await engine.start()
  const health = await engine.inspect.health()
  expect(health.server.number).toBeGreaterThanOrEqual(150_000)
  expect(health.server.connectionsMax).toBeGreaterThan(0)
  expect(health.schema).toMatchObject([{ package: 'engine' }])
  expect(Math.abs(health.clockAheadMs)).toBeLessThan(30_000)
  expect(health).toMatchObject({ listeners: 1, lostWorkers: [], orphans: { count: 0, more: false } })
  expect(health.leader.worker).toBe(engine.status().worker)
  expect(health.ledgerDaysAhead).toBeGreaterThanOrEqual(7)
  expect(health.jobTable).toMatchObject({ live: expect.any(Number), dead: expect.any(Number), bytes: expect.any(Number) })
})

test('[O-06] health: a clock that is wrong, a snapshot that is held, workers that are lost and jobs of nobody', async ({
  engines,
  client,
  database,
}) => {
  const engine = engines()
  await engine.migrate()
  await client.query(
    `insert into sluice.worker (id, name, lease_until) values (7, 'gone', now() - interval '1 h');
     insert into sluice.job (kind, pool, rank, payload, max_attempts, created_at, worker) values ('note', 'light', 1, '{}', 5, now(), 99)`,
  )
  const holder = new pg.Client({ connectionString: database.url, application_name: 'a long report' })
  await holder.connect()
  try {
    await holder.query('begin isolation level repeatable read; select 1')
    const health = await eventually(async () => {
      const seen = await engine.inspect.health()
      return seen.oldestSnapshot && seen
    })
    expect(health.oldestSnapshot).toMatchObject({ application: 'a long report', state: 'idle in transaction' })
    expect(health.oldestSnapshot!.ageMs).toBeGreaterThan(1_000)
    expect(health.openTransactions).toEqual([]) // it holds no row
    await holder.query(`insert into sluice.lane (key) values ('held')`)
    expect((await engine.inspect.health()).openTransactions).toMatchObject([
      { application: 'a long report', state: 'idle in transaction', over: ['lane'] },
    ])
    expect(health.lostWorkers).toMatchObject([{ id: 7, name: 'gone' }])
    expect(health.lostWorkers[0]!.overMs).toBeGreaterThan(3_000_000)
    expect(health.orphans).toEqual({ count: 1, more: false })
    expect(health.leader.worker).toBeUndefined()
  } finally {
    await holder.end()
  }
  const name = new URL(database.url).pathname.slice(1)
  await client.query(`alter database ${name} set sluice.clock_offset = '1 h'`)
  const late = engines()
  expect((await late.inspect.health()).clockAheadMs).toBeGreaterThan(3_500_000)
})
