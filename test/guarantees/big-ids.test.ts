/**
 * Ids above 2³¹ work everywhere an id goes: enqueue, claim, settle, children, cancel, find, retry, dedupe, plain SQL. Nothing on the way holds
 * them in four bytes, and the driver gives them as numbers, not as text.
 */
import { defineKind, done, fail, type Job, once, snooze } from '@sluice/engine'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../support/database.ts'

const starts: [name: string, first: number][] = [
  ['2³¹', 2 ** 31 - 4],
  ['2³²', 2 ** 32 - 4],
  ['2⁴⁰', 2 ** 40],
]

test.for(starts)('a job with children lives its whole life across %s', async ([_name, first], { engines, client }) => {
  const leaf = defineKind('leaf', { payload: z.object({ n: z.int() }), run: () => {} })
  const tree = defineKind('tree', {
    run: ({ id }) =>
      done({
        write: (tx) => tx.query('insert into effect (job) values ($1)', [id]),
        next: [0, 1, 2].map((n) => leaf({ n })),
      }),
  })
  const engine = engines({ kinds: [leaf, tree] })
  await engine.migrate()
  await client.query('create table effect (job bigint not null)')
  await client.query(`select setval('sluice.job_id_seq', $1, false), setval('sluice.worker_id_seq', $1, false)`, [first])

  const enqueued = await engine.enqueueMany(Array.from({ length: 4 }, () => tree({})))
  expect(enqueued.map(({ id }) => id)).toEqual([0, 1, 2, 3].map((n) => first + n))
  await engine.start()
  expect(engine.status().worker).toBe(first)
  await eventually(async () => (await client.query('select from sluice.job_ledger')).rowCount === 16)

  const found = (await Promise.all(enqueued.map(({ id }) => engine.find(id)))) as Job[]
  expect(found.map(({ id, state, worker }) => ({ id, state, worker }))).toEqual(
    enqueued.map(({ id }) => ({ id, state: 'succeeded', worker: first })),
  )
  const { rows: children } = await client.query<{ id: string; parent: string; root: string }>(
    'select id, parent, root from sluice.job_ledger where parent is not null',
  )
  expect(children).toHaveLength(12)
  for (const { id, parent, root } of children) {
    expect(enqueued.map((one) => one.id)).toContain(Number(parent))
    expect(root).toBe(parent)
    expect(await engine.find(Number(id))).toMatchObject({ id: Number(id), parent: Number(parent), root: Number(root) })
  }
  const { rows: effects } = await client.query<{ job: string }>('select job from effect order by job')
  expect(effects.map(({ job }) => Number(job))).toEqual(enqueued.map(({ id }) => id))
  expect(await engine.attempts(first)).toMatchObject([{ attempt: 1, worker: first, outcome: 'succeeded' }])
})

test.for(starts)('people steer jobs across %s', async ([_name, first], { engines, client }) => {
  const started = new Set<number>()
  const endless = defineKind('endless', {
    run: ({ id, signal }) => {
      started.add(id)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('told to stop'))))
    },
  })
  const grower = defineKind('grower', { run: () => done({ next: [sleeper({}), sleeper({})] }) })
  const sleeper = defineKind('sleeper', { run: () => snooze('1h') })
  const broken = defineKind('broken', { retry: once, run: () => fail(new Error('broken')) })
  const engine = engines({ kinds: [endless, grower, sleeper, broken] })
  await engine.migrate()
  await client.query(`select setval('sluice.job_id_seq', $1, false)`, [first])
  await engine.start()

  const running = await engine.enqueue(endless({}, { key: 'one', dedupe: 'keep' }))
  expect(running.id).toBe(first)
  expect(await engine.enqueue(endless({}, { key: 'one', dedupe: 'keep' }))).toEqual({ id: first, created: false })
  await eventually(() => started.has(first))
  expect(await engine.why(first)).toMatchObject({ reason: 'running' })
  expect(await engine.cancel(first)).toEqual(new Map([[first, 'requested']]))
  await eventually(async () => (await engine.find(first))?.state === 'canceled')

  const later = await engine.enqueue(endless({}, { delay: '1h' }))
  expect(await engine.why(later.id)).toMatchObject({ reason: 'not before' })
  expect(await engine.cancel(later.id)).toEqual(new Map([[later.id, 'canceled']]))

  const root = await engine.enqueue(grower({}))
  const children = await eventually(async () => {
    const { rows } = await client.query<{ id: string }>(
      `select id from sluice.job where kind = 'sleeper' and shelf = 'scheduled'`,
    )
    return rows.length === 2 && rows.map(({ id }) => Number(id))
  })
  expect(await engine.cancel(root.id, { tree: true })).toEqual(
    new Map([[root.id, 'not live'], ...children.map((id): [number, string] => [id, 'canceled'])]),
  )

  const { id } = await engine.enqueue(broken({}))
  await eventually(async () => (await engine.find(id))?.state === 'failed')
  expect((await engine.failed()).map((job) => job.id)).toEqual([id])
  expect(await engine.failed({ after: id })).toEqual([])
  expect(await engine.retry(id)).toEqual(new Map([[id, 'retried']]))
  await eventually(async () => (await engine.attempts(id)).length === 2 && (await engine.find(id))?.state === 'failed')
  expect(await engine.discard(id)).toBe(1)
  expect(await engine.find(id)).toMatchObject({ id, state: 'failed', error: { message: 'broken' } })
})

test('plain SQL and a caller’s own client give ids beyond 2³¹', async ({ engines, client }) => {
  const note = defineKind('note', { run: () => {} })
  const engine = engines({ kinds: [note] })
  await engine.migrate()
  await client.query(`select setval('sluice.job_id_seq', $1, false)`, [2 ** 31 - 1])
  const { rows } = await client.query<{ id: string }>(`select id from sluice.enqueue('note')`)
  expect(rows).toEqual([{ id: '2147483647' }])
  expect(await engine.enqueue(note({}), { client })).toEqual({ id: 2 ** 31, created: true })
  expect(await engine.enqueueMany([note({}), note({})], { client })).toEqual([
    { id: 2 ** 31 + 1, created: true },
    { id: 2 ** 31 + 2, created: true },
  ])
  await engine.start()
  await eventually(async () => (await client.query('select from sluice.job_ledger where id >= 2147483647')).rowCount === 4)
})

test('jobs of a lost process are rescued across 2³¹', async ({ engines, client }) => {
  const note = defineKind('note', { run: () => {} })
  const engine = engines({ kinds: [note], lease: '1s' })
  await engine.migrate()
  const lost = 2 ** 33 + 5
  await client.query(
    `insert into sluice.job (id, kind, pool, rank, payload, max_attempts, created_at, worker, attempt, fence, started_at)
     values ($1::bigint, 'note', 'light', 1, '{}', 5, now(), $1, 1, 7, now())`,
    [lost],
  )
  await client.query(`insert into sluice.worker (id, name, lease_until) values ($1, 'dead', now() - interval '1 s')`, [lost])
  await engine.start()
  await eventually(async () => (await engine.find(lost))?.state === 'succeeded')
  expect(await engine.attempts(lost)).toMatchObject([
    { attempt: 1, worker: lost, outcome: 'lost' },
    { attempt: 2, outcome: 'succeeded' },
  ])
})
