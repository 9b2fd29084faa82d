/** A dedupe key, the row of a job or that of a run in a stranger's open transaction: what has to wait for it waits, and nothing else does. */
import pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { serverWaits } from '../../../../test/support/onlooker.ts'
import { defineKind } from '../job/kind.ts'
import { done, fail, type Outcome } from '../job/outcome.ts'
import { defineRun } from '../run/run-kind.ts'

const keyed = defineKind('keyed', { dedupe: 'keep', payload: z.object({ key: z.string() }), run: () => {} })
const write = (tx: { query(text: string): Promise<unknown> }): Promise<unknown> => tx.query('insert into noted values (1)')

const ways: [name: string, outcome: (key: string) => Outcome, written: number][] = [
  ['children', (key) => done({ next: [keyed({ key })] }), 0],
  ['a write and children', (key) => done({ write, next: [keyed({ key })] }), 1],
]
const cases = ways.flatMap((way) => ['commit', 'rollback'].map((end) => [way[0], end, way] as const))

/** Twice: more than there are transactions for writes, in as many groups as may be under way. */
const stuck = 8

function closedGate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => {}
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open: () => open() }
}

async function strangerWith(url: string, enqueue: (client: pg.Client) => Promise<unknown>): Promise<pg.Client> {
  const stranger = new pg.Client(url)
  await stranger.connect()
  await stranger.query('begin')
  await enqueue(stranger)
  return stranger
}

test.for(cases)(
  '[E-12] [E-09] ends with %s wait for a stranger’s key until his %s, keep no other job from its end, and no handler runs again',
  async ([_name, end, [, outcome, written]], { engines, client, database }) => {
    await client.query('create table noted (n integer)')
    const ran: number[] = []
    const parent = defineKind('parent', {
      payload: z.object({ key: z.string() }),
      run({ id, payload }) {
        ran.push(id)
        return outcome(payload.key)
      },
    })
    const plain = defineKind('plain', { run: () => {} })
    const writes = defineKind('writes', { run: () => done({ write }) })
    const engine = engines({ kinds: [keyed, parent, plain, writes], pools: { light: { core: 30, max: 30 } }, lease: '3s' })
    await engine.start()
    const stranger = await strangerWith(database.url, (on) => engine.enqueue(keyed({ key: 'held' }), { client: on }))
    const waiting: number[] = []
    for (const groups of [1, 2]) {
      const jobs = await engine.enqueueMany(Array.from({ length: stuck }, () => parent({ key: 'held' })))
      waiting.push(...jobs.map(({ id }) => id))
      await serverWaits(client, 'enqueue', groups)
    }
    const others = await engine.enqueueMany([
      ...Array.from({ length: 5 }, (_, n) => parent({ key: `free ${n}` })),
      plain({}),
      writes({}),
    ])
    for (const { id } of others) await eventually(async () => (await engine.find(id))?.state === 'succeeded')
    const { rows } = await client.query(
      `select sluice.state_of(shelf, worker)::text as state, count(*)::int from sluice.job where kind = 'parent' group by 1`,
    )
    expect(rows).toEqual([{ state: 'running', count: 2 * stuck }])
    await stranger.query(end)
    await stranger.end()
    for (const id of waiting) {
      await eventually(async () => (await engine.find(id))?.state === 'succeeded')
      expect(await engine.attempts(id)).toMatchObject([{ attempt: 1, outcome: 'succeeded' }])
    }
    expect(ran).toHaveLength(2 * stuck + 5)
    expect((await client.query('select from noted')).rowCount).toBe(written * ran.length + 1)
  },
)

test('[E-23] a process that stops while a stranger keeps a key leaves after its limit', async ({ engines, client, database }) => {
  const parent = defineKind('parent', { run: () => done({ next: [keyed({ key: 'held' })] }) })
  const engine = engines({ kinds: [keyed, parent], lease: '1m', grace: '100ms' })
  await engine.start()
  const stranger = await strangerWith(database.url, (on) => engine.enqueue(keyed({ key: 'held' }), { client: on }))
  const { id } = await engine.enqueue(parent({}))
  await serverWaits(client, 'enqueue')
  await engine.stop()
  await stranger.query('rollback')
  await stranger.end()
  const heir = engines({ kinds: [keyed, parent] })
  await heir.start()
  await eventually(async () => (await heir.find(id))?.state === 'succeeded')
})

const ends: [name: string, end: () => Outcome, state: string][] = [
  ['end well', () => done(), 'succeeded'],
  ['write', () => done({ write }), 'succeeded'],
  ['fail', () => fail(new Error('no')), 'failed'],
]

test.for(ends)(
  '[E-12] [E-07] a stranger who holds the rows of jobs that %s keeps no other job from its end, and no handler runs again',
  async ([_name, end, state], { engines, client, database }) => {
    await client.query('create table noted (n integer)')
    const gate = closedGate()
    const ran: number[] = []
    const slow = defineKind('slow', {
      async run({ id }) {
        ran.push(id)
        await gate.passed
        return end()
      },
    })
    const plain = defineKind('plain', { run: () => {} })
    const writes = defineKind('writes', { run: () => done({ write }) })
    const engine = engines({ kinds: [slow, plain, writes], pools: { light: { core: 30, max: 30 } }, lease: '3s' })
    await engine.start()
    const held = await engine.enqueueMany(Array.from({ length: stuck + 1 }, () => slow({})))
    await eventually(() => ran.length === held.length)
    const stranger = await strangerWith(database.url, (on) => on.query('select from sluice.job for update'))
    gate.open()
    await serverWaits(client, 'sluice.', 2)
    const others = await engine.enqueueMany(Array.from({ length: 20 }, (_, n) => (n % 2 ? plain({}) : writes({}))))
    for (const { id } of others) await eventually(async () => (await engine.find(id))?.state === 'succeeded')
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    expect((await client.query(waiting)).rowCount).toBeLessThanOrEqual(stuck + 4)
    await stranger.query('rollback')
    await stranger.end()
    for (const { id } of held) await eventually(async () => (await engine.find(id))?.state === state)
    expect(ran).toHaveLength(held.length)
  },
)

test('[E-15] [E-12] a stranger who holds the row of a run keeps jobs of others neither from their end nor from their rescue', async ({
  engines,
  client,
  database,
}) => {
  const gate = closedGate()
  const page = defineKind('page', { run: () => gate.passed })
  const plain = defineKind('plain', { run: () => {} })
  const walk = defineRun('walk', { plan: () => done({ next: [page({})] }) })
  const engine = engines({ kinds: [page, plain], runs: [walk], pools: { light: { core: 30, max: 30 } }, lease: '1s' })
  await engine.start()
  const { id: run } = await engine.runs.start(walk({}))
  const running = `select from sluice.job where kind = 'page' and worker is not null`
  await eventually(async () => (await client.query(running)).rowCount === 1)
  // Of two processes that died, one held a job of the run that somebody had canceled.
  await client.query(
    `insert into sluice.worker (id, name, lease_until) values (98, 'dead', 'infinity'), (99, 'dead as well', 'infinity')`,
  )
  const { rows } = await client.query<{ id: number }>(
    `insert into sluice.job (kind, pool, rank, payload, max_attempts, created_at, worker, attempt, fence, started_at, run, cancel_at)
     values ('plain', 'light', 1, '{}', 5, now(), 98, 1, 7, now(), null, null), ('plain', 'light', 1, '{}', 5, now(), 99, 1, 7, now(), $1, now())
     returning id::int`,
    [run],
  )
  await client.query('update sluice.run set total = total + 1, pending = pending + 1 where id = $1', [run])
  const [innocent, canceled] = rows.map(({ id }) => id) as [number, number]
  const stranger = await strangerWith(database.url, (on) => on.query('select from sluice.run for update'))
  await client.query(`update sluice.worker set lease_until = now() where name like 'dead%'`)
  gate.open()
  const other = await engine.enqueue(plain({}))
  for (const id of [innocent, other.id]) await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  expect((await engine.runs.find(run))?.state).toBe('running')
  await stranger.query('rollback')
  await stranger.end()
  await eventually(async () => (await engine.find(canceled))?.state === 'canceled')
  await eventually(async () => (await engine.runs.find(run))?.state === 'completed')
})
