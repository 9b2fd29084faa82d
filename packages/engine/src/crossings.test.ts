/** Where two features meet. Each of these went wrong once. */
import pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../test/support/database.ts'
import { defineKind, type Kind } from './job/kind.ts'
import { done, fail, type Outcome } from './job/outcome.ts'
import { once } from './job/retry.ts'
import { defineRun } from './run/run-kind.ts'
import { pause, systemClock } from './support/clock.ts'

const open = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  return client
}
/** Somebody with an open transaction. */
const begun = async (url: string): Promise<pg.Client> => {
  const client = await open(url)
  await client.query('begin')
  return client
}
const addWorker = async (client: pg.Client): Promise<number> =>
  Number((await client.query(`insert into sluice.worker (name, lease_until) values ('w', 'infinity') returning id`)).rows[0].id)
const claimOne = async (client: pg.Client, worker: number): Promise<{ id: string; fence: string }[]> =>
  (await client.query(`select id, fence from sluice.claim('light', $1, 1, -9007199254740991, '{}')`, [worker])).rows

test('[E-22] [E-05] a tree that is canceled does not take along a stranger whose key its child met', async ({
  engines,
  client,
}) => {
  let [started, goOn] = [() => {}, () => {}]
  const running = new Promise<void>((resolve) => void (started = resolve))
  const asked = new Promise<void>((resolve) => void (goOn = resolve))
  const child = defineKind('child', { dedupe: 'keep', key: () => 'k', run: () => {} })
  const parent = defineKind('parent', {
    async run() {
      started()
      await asked
      return done({ next: [child({ from: 'parent' })] })
    },
  })
  const engine = engines({ kinds: [parent, child] })
  await engine.start()
  const stranger = await engine.enqueue(child({ from: 'stranger' }, { delay: '1h' }))
  const { id } = await engine.enqueue(parent({}))
  await running
  await engine.cancel(id, { tree: true })
  goOn()
  await eventually(async () => (await client.query('select from sluice.job_ledger where id = $1', [id])).rowCount === 1)
  expect(await engine.find(stranger.id)).toMatchObject({ state: 'scheduled' })
})

test('[E-05] once in a run has no window of time: it is refused, and no run completes without its job', async ({ engines }) => {
  const windowed = () => defineKind('page', { dedupe: 'once', uniqueFor: '1h', run: () => {} })
  expect(windowed).toThrow(/^Option page\.uniqueFor: /)
  const page = defineKind('page', { dedupe: 'once', run: () => {} })
  const walk = defineRun('walk', { retry: once, plan: () => done({ next: [page({ n: 1 }, { uniqueFor: '1h' })] }) })
  const engine = engines({ kinds: [page], runs: [walk] })
  await engine.start()
  const { id } = await engine.runs.start(walk({}))
  expect(await engine.runs.ended(id)).toMatchObject({
    state: 'failed',
    error: { message: expect.stringContaining('leave out uniqueFor') },
  })
})

test('[E-05] [E-15] a job that is retried after the end of its run can have children that were once in a run', async ({
  engines,
  client,
}) => {
  let bad = true
  const ran: number[] = []
  const page: Kind<z.ZodObject<{ n: z.ZodNumber }>> = defineKind('page', {
    payload: z.object({ n: z.number() }),
    dedupe: 'once',
    retry: once,
    run({ payload: { n } }): Outcome {
      if (n === 1 && bad) return fail(new Error('no'))
      ran.push(n)
      return n < 3 ? done({ next: [page({ n: n + 1 })] }) : done()
    },
  })
  const walk = defineRun('walk', { plan: () => done({ next: [page({ n: 1 })] }) })
  const engine = engines({ kinds: [page], runs: [walk] })
  await engine.start()
  const run = await engine.runs.start(walk({}))
  expect(await engine.runs.ended(run.id)).toMatchObject({ state: 'completed', failed: 1 })
  bad = false
  const [dead] = await engine.failed()
  expect([...(await engine.retry(dead!.id)).values()]).toEqual(['retried'])
  await eventually(() => ran.length === 3)
  await eventually(async () => (await client.query('select from sluice.job')).rowCount === 0)
  expect(ran).toEqual([1, 2, 3])
  await expect(engine.enqueue(page({ n: 1 }))).rejects.toMatchObject({ code: 'INVALID_OPTION' }) // by itself it still is
})

test('[E-22] [E-27] a job that was canceled while the answer of its claim got lost does not start, and counts in its run', async ({
  engines,
  client,
}) => {
  const leaf = defineKind('leaf', { run: () => {} })
  const walk = defineRun('walk', { plan: () => done({ next: [leaf({})] }) })
  const planner = engines({ kinds: [leaf], runs: [walk], pools: {} })
  await planner.migrate()
  const run = await planner.runs.start(walk({}))
  const worker = await addWorker(client)
  const [plan] = await claimOne(client, worker)
  await client.query('select sluice.settle_done($1, $2, false)', [[plan!.id], [plan!.fence]])
  const { id } = await planner.enqueue(leaf({}, { lane: 'l' }))
  await client.query('update sluice.job set run = $1 where id = $2', [run.id, id])
  await client.query(`update sluice.run set state = 'running', pending = 1, total = 2, succeeded = 1`)
  await client.query(`select * from sluice.claim_laned('light', $1, 1, 0, 16, '{}')`, [worker])
  expect([...(await planner.cancel(id)).values()]).toEqual(['requested'])
  expect((await client.query(`select jobs as n from sluice.audit($1, '{}')`, [worker])).rows).toEqual([{ n: 1 }])
  expect(await planner.find(id)).toMatchObject({ state: 'canceled' })
  expect(await planner.runs.find(run.id)).toMatchObject({ state: 'completed', canceled: 1, pending: 0 })
  expect((await client.query(`select in_flight from sluice.lane where key = 'l'`)).rows).toEqual([{ in_flight: 0 }])
})

test('[E-22] [E-05] to cancel a job has nothing to do with a key that somebody else is just taking', async ({
  engines,
  client,
  database,
}) => {
  const engine = engines({ kinds: [defineKind('k', { run: () => {} }), defineKind('other', { run: () => {} })] })
  await engine.migrate()
  const worker = await addWorker(client)
  await client.query(`select sluice.enqueue('k', '{"n":1}', key => 'x', mode => 'keep')`)
  const [first] = await claimOne(client, worker)
  await client.query(`select sluice.enqueue('k', '{"n":2}', key => 'x', mode => 'again')`) // waits for the end of the first
  await client.query('select sluice.settle_done($1, $2, true)', [[first!.id], [first!.fence]]) // nobody leads, or its beat is still to come
  const other = await engine.enqueue({ kind: 'other', payload: {} })
  const stranger = await begun(database.url)
  await stranger.query(`select sluice.enqueue('k', '{"n":3}', key => 'x', mode => 'keep')`)
  // It would wait for the stranger, who waits for it.
  expect([...(await engine.cancel(other.id)).values()]).toEqual(['canceled'])
  await stranger.query('commit')
  await stranger.end()
})

test('[E-05] canceling the job that holds a key starts the one that waits for its end', async ({ engines, client }) => {
  const engine = engines({ kinds: [defineKind('k', { run: () => {} })] })
  await engine.migrate()
  const worker = await addWorker(client)
  await client.query(`select sluice.enqueue('k', '{"n":1}', key => 'x', mode => 'again')`)
  const [first] = await claimOne(client, worker)
  const { rows } = await client.query(`select id::int from sluice.enqueue('k', '{"n":2}', key => 'x', mode => 'again')`)
  await client.query(`update sluice.job set worker = null where id = $1`, [first!.id])
  await engine.cancel(Number(first!.id))
  expect(await engine.find(rows[0].id)).toMatchObject({ state: 'ready' })
})

test('[E-23] a process that leaves while a claim of it commits leaves no job behind that nobody rescues', async ({
  engines,
  client,
  database,
}) => {
  const engine = engines({ kinds: [defineKind('k', { run: () => {} })] })
  await engine.migrate()
  await engine.enqueue({ kind: 'k', payload: {} })
  const worker = await addWorker(client)
  const claimer = await begun(database.url)
  expect(await claimOne(claimer, worker)).toHaveLength(1)
  const leaving = client.query('select sluice.leave($1)', [worker])
  await pause(systemClock, 300)
  await claimer.query('commit') // the answer is lost: the process has gone
  await leaving
  await client.query(`update sluice.leader set term = 1, worker = 99, until = sluice.now() + interval '1 h'`)
  await client.query('select * from sluice.rescue(1, 3, false)')
  expect((await client.query('select sluice.state_of(shelf, worker)::text as state from sluice.job')).rows).toEqual([
    { state: 'ready' },
  ])
  await claimer.end()
})

test('[E-05] [E-24] a window that starts while its predecessor is pruned holds', async ({ engines, client, database }) => {
  const engine = engines({ kinds: [defineKind('digest', { uniqueFor: '1d', run: () => {} })] })
  await engine.migrate()
  const add = () => engine.enqueue({ kind: 'digest', payload: {} })
  const first = await add()
  await engine.cancel(first.id)
  await client.query(`update sluice.key_window set until = sluice.now() - interval '1 s'`)
  const pruner = await begun(database.url)
  // The pruner's one statement, slowed down: it locks what it deletes before it deletes the first.
  await pruner.query('select from sluice.key_window for update')
  const second = add()
  await pause(systemClock, 300)
  await pruner.query('delete from sluice.key_window')
  await pruner.query('commit')
  const { id, created } = await second
  expect(created).toBe(true)
  await engine.cancel(id) // it has ended; its window has not
  expect(await add()).toEqual({ id, created: false })
  await pruner.end()
})

test('[E-12] a claim gives back no more permits than it took', async ({ engines, client }) => {
  let calls = 0
  const fetch = defineKind('fetch', {
    lane: 'api',
    run({ report }) {
      if (++calls === 1) report({ remaining: 1, resetAt: new Date(Date.now() + 3_600_000) })
      else for (let answers = 0; answers < 3; answers++) report({ refund: 1 }) // three conditional requests, each answered with 304
    },
  })
  const engine = engines({ kinds: [fetch], lanes: { api: { budget: { floor: 0 } } } })
  await engine.start()
  await engine.enqueue(fetch({ n: 0 }))
  await eventually(async () => (await client.query('select from sluice.lane where remaining = 1')).rowCount === 1)
  await engine.enqueue(fetch({ n: 1 }))
  await eventually(async () => (await client.query('select from sluice.job')).rowCount === 0)
  expect((await client.query(`select remaining from sluice.lane where key = 'api'`)).rows).toEqual([{ remaining: 1 }])
})

test('[E-12] [E-11] a lane whose row somebody holds in an open transaction keeps no delayed job of others waiting', async ({
  engines,
  client,
  database,
}) => {
  const ran: string[] = []
  const k = defineKind('k', { run: ({ lane }) => void ran.push(lane ?? 'open') })
  const engine = engines({ kinds: [k] })
  await engine.start()
  await client.query(`select sluice.change_lane('a', jsonb_build_object('hold_until', sluice.now() + interval '1 s'))`)
  await engine.enqueue(k({}, { lane: 'a' }))
  await eventually(async () => (await client.query('select from sluice.lane where shut and opens_at is not null')).rowCount === 1)
  const person = await begun(database.url)
  await engine.pause({ scope: 'lane', name: 'a' }, 'thinking about it', { client: person })
  await eventually(async () => (await client.query(`select from sluice.lane where opens_at < sluice.now()`)).rowCount === 1)
  await engine.enqueue(k({}, { delay: '100ms' }))
  await eventually(() => ran.length > 0)
  expect(ran).toEqual(['open'])
  await person.query('rollback')
  await eventually(() => ran.includes('a'))
  await person.end()
})

test('[E-01] [E-12] a kind that is only named is asked in `next` as it is in enqueue', async ({ engines }) => {
  const ran: string[] = []
  const call = defineKind('call', { lane: () => 'api', run: ({ lane }) => void ran.push(lane ?? '') })
  const parent = defineKind('parent', { retry: once, run: () => done({ next: [{ kind: 'call', payload: {} }] }) })
  const engine = engines({ kinds: [call, parent] })
  await engine.start()
  await engine.enqueue(parent({}))
  await eventually(() => ran.length === 1)
  expect(ran).toEqual(['api'])
  expect(await engine.failed()).toEqual([])
})

test('[E-10] a process that does not know the kind of a suspect does not even hold it', async ({ engines, client }) => {
  const report = defineKind('report', { run: () => {} })
  const other = defineKind('other', { run: () => {} })
  const knows = engines({ kinds: [report], pools: {} })
  await knows.migrate()
  const { id } = await knows.enqueue(report({}))
  await client.query('update sluice.job set crashes = 2')
  const before = (await client.query('select fence from sluice.job')).rows
  const engine = engines({ kinds: [other], lease: '2s' })
  await engine.start()
  await engine.enqueue(other({}))
  await eventually(async () => (await client.query(`select from sluice.job_ledger where kind = 'other'`)).rowCount === 1)
  await pause(systemClock, 2_500) // two beats and more
  expect((await client.query('select fence from sluice.job')).rows).toEqual(before)
  const third = engines({ kinds: [report] })
  await third.start()
  await eventually(async () => (await third.find(id))?.state === 'succeeded')
})

test('[E-07] [E-12] a lane whose row somebody holds in an open transaction keeps no other job of a dead process', async ({
  engines,
  client,
  database,
}) => {
  const k = defineKind('k', { run: () => {} })
  const engine = engines({ kinds: [k] })
  await engine.migrate()
  await engine.owners.set('ann', { cap: 5 })
  const laned = await engine.enqueue(k({}, { lane: 'a' }))
  const capped = await engine.enqueue(k({}, { lane: 'x:ann', owner: 'ann' }))
  const free = await engine.enqueue(k({}))
  const worker = await addWorker(client)
  await claimOne(client, worker)
  await client.query(`select * from sluice.claim_laned('light', $1, 5, 0, 16, '{}')`, [worker])
  expect((await client.query(`select from sluice.job where worker is not null`)).rowCount).toBe(3)
  await client.query(`update sluice.worker set lease_until = sluice.now() - interval '1 s'`)
  const person = await begun(database.url)
  await engine.pause({ scope: 'lane', name: 'a' }, 'thinking about it', { client: person })
  await engine.start()
  for (const { id } of [free, capped]) await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  expect(await engine.find(laned.id)).toMatchObject({ state: 'running' })
  await person.query('rollback')
  await eventually(async () => (await engine.find(laned.id))?.state === 'succeeded')
  const { rows } = await client.query('select key, in_flight from sluice.lane order by key')
  expect(rows).toEqual(
    expect.arrayContaining([
      { key: 'a', in_flight: 0 },
      { key: 'x:ann', in_flight: 0 },
    ]),
  )
  await person.end()
})

test('[E-05] [E-20] a job that was claimed ahead and went back before it started still has its key, by hand-back and by audit', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [defineKind('k', { run: () => {} })] })
  await engine.migrate()
  const worker = await addWorker(client)
  const add = async (n: number) =>
    (
      await client.query(
        `select id::int, created from sluice.enqueue('k', jsonb_build_object('n', $1::int), key => 'x', mode => 'replace')`,
        [n],
      )
    ).rows[0]
  const handBack = (refund: number | null, { id, fence }: { id: string; fence: string }) =>
    client.query(
      `select stale from sluice.settle($1, $2, $3, '{handed back}', '{null}', '{null}', '{null}', $4::int[], null, true)`,
      [worker, [id], [fence], [refund]],
    )
  const first = await add(1)
  await handBack(null, (await claimOne(client, worker))[0]!)
  expect(await add(2)).toEqual({ id: first.id, created: false })
  await claimOne(client, worker)
  await client.query(`select sluice.audit($1, '{}')`, [worker])
  expect(await add(3)).toEqual({ id: first.id, created: false })
  // One that had started has let it go for good.
  await handBack(0, (await claimOne(client, worker))[0]!)
  const second = await add(4)
  expect(second).toEqual({ id: expect.any(Number), created: true })
  // And where a younger one has the key by now, that one keeps it.
  const [claimed] = await claimOne(client, worker)
  expect(Number(claimed!.id)).toBe(first.id)
  await client.query(`update sluice.job set let_go = 'k/x' where id = $1`, [first.id])
  await handBack(null, claimed!)
  expect(await add(5)).toEqual({ id: second.id, created: false })
  const { rows } = await client.query(`select id::int, key from sluice.job order by id`)
  expect(rows).toEqual([
    { id: first.id, key: null },
    { id: second.id, key: 'k/x' },
  ])
})

test('[E-12] a lane that somebody holds, or makes, in an open transaction keeps no other lane and no open job waiting', async ({
  engines,
  client,
  database,
}) => {
  const ran: string[] = []
  const k = defineKind('k', { run: ({ lane }) => void ran.push(lane ?? 'open') })
  const engine = engines({ kinds: [k] })
  await engine.migrate()
  for (let n = 0; n < 40; n++) await engine.enqueue(k({ n }, { lane: 'held' })) // more turns than are looked at in one go
  await client.query(`select sluice.adopt_lanes('{held}')`)
  const person = await begun(database.url)
  await engine.pause({ scope: 'lane', name: 'held' }, 'thinking about it', { client: person })
  await engine.pause({ scope: 'lane', name: 'made' }, 'thinking about it', { client: person })
  await engine.enqueueMany([k({}, { lane: 'made' }), k({}, { lane: 'b' })])
  await engine.start()
  await engine.enqueue(k({}))
  await eventually(() => ran.length === 2)
  expect(ran.toSorted()).toEqual(['b', 'open'])
  await person.query('rollback')
  await eventually(() => ran.length === 43)
  await person.end()
})
