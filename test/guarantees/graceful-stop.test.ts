/**
 * A process that is asked to leave finishes what it can within its limit and hands back the rest: no attempt is burned, nobody waits for a
 * lease, and the process ends by itself. Leases here are so long that a test which needed one to run out would fail.
 */
import { createEngine, defineKind, type Engine, silentLog } from '@sluice/engine'
import { expect } from 'vitest'
import { effectTable, stepBoth, stepKinds, stepPlain, stepWrite } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { serverWaits, withOnlooker } from '../support/onlooker.ts'
import { test } from '../support/processes.ts'
import { drained, nothingWrong, tally } from '../support/tally.ts'

const calm = { kinds: stepKinds, services: { enter: () => {} }, lease: '10m' } as const
const twoSlots = { light: { core: 2, max: 2 } }
const left = { code: 0, signal: null }

test('[E-23] jobs that run when the process is asked to leave may end within the limit', async ({ client, engines, program }) => {
  await client.query(effectTable)
  const onlooker = engines(calm)
  const leaving = program('step-worker', { lease: '10m', grace: '30s', gated: ['step.both'], pools: twoSlots })
  const { worker } = await leaving.hears('worker')
  const jobs = await onlooker.enqueueMany([stepBoth({}), stepBoth({}), stepPlain({})])
  await leaving.hears('started', jobs[0]!.id)
  await leaving.hears('started', jobs[1]!.id)

  leaving.signal('SIGTERM')
  await eventually(async () => {
    const { rows } = await client.query('select stopping from sluice.worker where id = $1', [worker])
    return rows[0]?.stopping as boolean
  })
  leaving.tell({ open: true })
  expect(await leaving.ended, leaving.complaints).toEqual(left)

  expect((await client.query('select from sluice.worker')).rows).toEqual([])
  expect(await onlooker.find(jobs[0]!.id)).toMatchObject({ state: 'succeeded', worker, attempt: 1 })
  expect(await onlooker.find(jobs[1]!.id)).toMatchObject({ state: 'succeeded', worker, attempt: 1 })
  // It took up nothing new: neither the job that waited nor the children.
  const { rows } = await client.query('select sluice.state_of(shelf, worker) as state, attempt from sluice.job')
  expect(rows).toEqual(Array.from({ length: 5 }, () => ({ state: 'ready', attempt: 0 })))
  await onlooker.start()
  await drained(client)
  expect(
    await tally(
      client,
      jobs.map(({ id }) => id),
    ),
  ).toEqual(nothingWrong)
})

test.for([
  ['that listens to its signal', false],
  ['that ignores its signal', true],
] as const)(
  '[E-23] a job %s and outlasts the limit starts elsewhere at once, no attempt burned',
  async ([, stubborn], { client, engines, program }) => {
    await client.query(effectTable)
    const heir = engines(calm)
    const leaving = program('step-worker', { lease: '10m', grace: '200ms', gated: ['step.write'], stubborn, pools: twoSlots })
    await leaving.hears('worker')
    const jobs = await heir.enqueueMany([stepWrite({}), stepWrite({}), stepPlain({})])
    await leaving.hears('started', jobs[1]!.id)
    await heir.start()
    await eventually(async () => (await heir.find(jobs[2]!.id))?.state === 'succeeded')

    leaving.signal('SIGTERM')
    // Nobody waits so long for a lease.
    await drained(client)
    const { stopped } = await leaving.hears('stopped')
    expect(stopped).toBeTypeOf('number')

    for (const { id } of jobs) {
      expect(await heir.find(id)).toMatchObject({ state: 'succeeded', worker: heir.status().worker, attempt: 1 })
      expect(await heir.attempts(id)).toHaveLength(1)
    }
    expect(await leaving.hears('aborted', jobs[0]!.id)).toMatchObject({ reason: 'shutdown' })
    leaving.tell({ open: true })
    expect(await leaving.ended, leaving.complaints).toEqual(left)
    expect(
      await tally(
        client,
        jobs.map(({ id }) => id),
      ),
    ).toEqual(nothingWrong)
    expect((await client.query('select id::int from sluice.worker')).rows).toEqual([{ id: heir.status().worker }])
  },
)

test('[E-23] whoever led gives up the lead when it is asked to leave, not only when its last job ends', async ({
  client,
  engines,
  program,
}) => {
  const leaving = program('step-worker', { lease: '10m', grace: '30s', gated: ['step.plain'] })
  const { worker } = await leaving.hears('worker')
  const heir = engines({ ...calm, pools: {} })
  await heir.start()
  const { id } = await heir.enqueue(stepPlain({}))
  await leaving.hears('started', id)
  expect((await client.query('select worker::int, term::int from sluice.leader')).rows).toEqual([{ worker, term: 1 }])

  leaving.signal('SIGTERM')
  await eventually(() => heir.status().leads)
  expect(await heir.find(id)).toMatchObject({ state: 'running', worker })
  leaving.tell({ open: true })
  expect(await leaving.ended, leaving.complaints).toEqual(left)
  const { rows } = await client.query('select worker::int, term::int from sluice.leader')
  expect(rows).toEqual([{ worker: heir.status().worker, term: 2 }])
})

test('[E-23] a process whose last job outlives some heartbeats ends by itself all the same', async ({
  client,
  engines,
  program,
}) => {
  const onlooker = engines(calm)
  const leaving = program('step-worker', { lease: '1s', grace: '30s', gated: ['step.plain'] })
  const { worker } = await leaving.hears('worker')
  const { id } = await onlooker.enqueue(stepPlain({}))
  await leaving.hears('started', id)
  leaving.signal('SIGTERM')

  let beatMs = 0
  for (let beats = 0; beats < 3; beats++)
    beatMs = await eventually(async () => {
      const { rows } = await client.query('select beat_at, stopping from sluice.worker where id = $1', [worker])
      return rows[0].stopping && Number(rows[0].beat_at) > beatMs && Number(rows[0].beat_at)
    })
  leaving.tell({ open: true })
  await leaving.hears('stopped')
  await eventually(() => !leaving.alive)
  expect(await leaving.ended).toEqual(left)
  expect(await onlooker.find(id)).toMatchObject({ state: 'succeeded', worker, attempt: 1 })
})

test.for([
  ['its first round', `select pg_advisory_xact_lock(hashtext('sluice.add_days'))`, 'sluice.add_days('],
  ['making jobs ready', 'lock table sluice.job in exclusive mode', 'sluice.promote('],
] as const)(
  '[E-23] a leader that is asked to leave in the middle of %s ends by itself',
  async ([, lock, statement], { database, client, engines, program }) => {
    // One falls due at once, and nobody may wait for the other in a process that has left.
    await engines(calm).enqueueMany([stepPlain({}, { delay: '1ms' }), stepPlain({}, { delay: '1h' })])
    await client.query(`begin; ${lock}`)
    const leaving = program('step-worker', { lease: '10m', pools: {} })
    await leaving.hears('worker')
    await withOnlooker(database.url, (onlooker) => serverWaits(onlooker, statement))
    leaving.signal('SIGTERM')
    await eventually(async () => (await client.query('select from sluice.worker')).rows.length === 0)
    await client.query('commit')
    await leaving.hears('stopped')
    await eventually(() => !leaving.alive)
    expect(await leaving.ended, leaving.complaints).toEqual(left)
  },
)

test('[E-23] a claim that is answered only when its process has all but left is handed back', async ({
  database,
  client,
  engines,
  program,
}) => {
  await client.query(effectTable)
  // Somebody else leads, so that nobody sweeps up behind the one that leaves.
  const leads = engines({ ...calm, pools: { elsewhere: { core: 1, max: 1 } } })
  await leads.start()
  const leaving = program('step-worker', { lease: '10m', grace: '100ms' })
  await leaving.hears('worker')
  const first = await leads.enqueue(stepPlain({}))
  await leaving.hears('point', 'settled')
  await client.query('begin; lock table sluice.job in exclusive mode')
  const { rows } = await client.query(`select id::int from sluice.enqueue('step.write')`)
  await withOnlooker(database.url, async (onlooker) => {
    await onlooker.query(`notify sluice, 'ready:light'`)
    await serverWaits(onlooker, 'sluice.claim(')
    leaving.signal('SIGTERM')
    await serverWaits(onlooker, 'sluice.leave(')
  })
  await client.query('commit')
  expect(await leaving.ended, leaving.complaints).toEqual(left)

  const id = rows[0].id as number
  expect(await leads.find(id)).toMatchObject({ state: 'ready', attempt: 0 })
  const heir = engines(calm)
  await heir.start()
  await drained(client)
  expect(await tally(client, [first.id, id])).toEqual(nothingWrong)
})

test('[E-23] a process that is declared dead while it leaves does not come back', async ({ client, engines, program }) => {
  await client.query(effectTable)
  const heir = engines(calm)
  const leaving = program('step-worker', { lease: '1s', grace: '30s', gated: ['step.write'] })
  const { worker } = await leaving.hears('worker')
  const { id } = await heir.enqueue(stepWrite({}))
  await leaving.hears('started', id)
  leaving.signal('SIGTERM')
  await eventually(async () => (await client.query('select from sluice.worker where stopping')).rows.length === 1)

  await client.query('delete from sluice.worker where id = $1', [worker])
  expect(await leaving.ended, leaving.complaints).toEqual(left)
  expect(await leaving.hears('aborted', id)).toMatchObject({ reason: 'lease lost' })
  await heir.start()
  await drained(client)
  expect(await tally(client, [id])).toEqual(nothingWrong)
  // Nobody took a number between the two.
  expect(heir.status().worker).toBe(Number(worker) + 1)
})

test('[E-23] stop may come twice, without start, before start has ended, and right after it', async ({ client, engines }) => {
  const [twice, never, early, quick] = [engines(calm), engines(calm), engines(calm), engines(calm)]
  await twice.start()
  await Promise.all([twice.stop(), twice.stop()])
  await twice.stop()
  await never.stop()
  const starting = early.start()
  await early.stop()
  await starting
  await quick.start()
  await quick.stop()
  expect((await client.query('select from sluice.worker')).rows).toEqual([])
  await expect(twice.start()).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  await expect(never.enqueue(stepPlain({}))).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
})

test('[E-23] a stop that is asked for again without grace hands back at once what the first one waits for', async ({
  client,
  engines,
}) => {
  let started = 0
  const endless = defineKind('endless', {
    run: ({ signal }) => {
      started++
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    },
  })
  const engine = engines({ kinds: [endless], lease: '10m', grace: '1m' })
  await engine.start()
  const { id } = await engine.enqueue(endless({}))
  await eventually(() => started === 1)
  const patient = engine.stop()
  await eventually(async () => (await client.query('select from sluice.worker where stopping')).rowCount === 1)
  await expect(engine.stop({ grace: 'soon' as never })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  expect((await engine.find(id))?.state).toBe('running')
  await Promise.all([patient, engine.stop({ grace: 0 })])
  const { rows } = await client.query('select sluice.state_of(shelf, worker) as state, attempt, crashes from sluice.job')
  expect(rows).toEqual([{ state: 'ready', attempt: 0, crashes: 0 }])
})

test('[E-23] a process leaves also when a handler that ignores its signal sits in a transaction of the engine', async ({
  client,
  database,
}) => {
  let begun = () => {}
  const running = new Promise<void>((resolve) => void (begun = resolve))
  const endless = defineKind('endless', {
    run: () =>
      engine.transaction(async (tx) => {
        await tx.query('select 1')
        begun()
        await new Promise(() => {})
      }),
  })
  const engine: Engine = createEngine({ database: database.url, log: silentLog, kinds: [endless], lease: '10m', grace: '100ms' })
  await engine.start()
  const { id } = await engine.enqueue(endless({}))
  await running
  let stopped = false
  void engine.stop().then(() => (stopped = true))
  await eventually(() => stopped)
  expect(
    (await client.query('select sluice.state_of(shelf, worker) as state, attempt from sluice.job where id = $1', [id])).rows,
  ).toEqual([{ state: 'ready', attempt: 0 }])
  const open = `select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`
  await eventually(async () => (await client.query(open)).rowCount === 0)
})
