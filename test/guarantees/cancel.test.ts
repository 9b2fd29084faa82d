/**
 * Cancel reaches a job wherever it is: waiting in a table or running in another process, with its wake-up or without, and also when the
 * process that ran it dies before it could give up.
 */
import { defineKind, done, type Engine, fail } from '@sluice/engine'
import { expect } from 'vitest'
import { effectTable, stepKinds, stepPlain, stepWrite } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { type Program, test } from '../support/processes.ts'

/** No heartbeat comes within a test. */
const long = { lease: '10m', gated: ['step.write'] }

test('[E-22] a handler in another process is told to stop, and its job ends as canceled', async ({
  client,
  engines,
  program,
}) => {
  await client.query(effectTable)
  const onlooker = engines({ kinds: stepKinds })
  const { id, worker } = await startedIn(program('step-worker', long), onlooker)
  expect(await onlooker.cancel(id, { reason: 'changed my mind' })).toEqual(new Map([[id, 'requested']]))
  expect(await worker.hears('aborted', id)).toMatchObject({ reason: 'canceled' })
  await endsAsCanceled(onlooker, id)
  expect((await client.query('select from effect')).rows).toEqual([])
  expect(await onlooker.cancel(id)).toEqual(new Map([[id, 'not live']]))

  // Its slot is free and its process goes on.
  const after = await onlooker.enqueue(stepPlain({}))
  await eventually(async () => (await onlooker.find(after.id))?.state === 'succeeded')
})

test('[E-22] without its wake-up, a cancel arrives with the heartbeat', async ({ client, engines, program }) => {
  await client.query(effectTable)
  const onlooker = engines({ kinds: stepKinds })
  const { id, worker } = await startedIn(program('step-worker', { ...long, lease: '6s' }), onlooker)
  // The listener is gone before the notification is sent, and listens again only after it.
  await client.query('begin')
  const { rows } = await client.query(
    `select pg_terminate_backend(pid, 20000) as gone from pg_stat_activity where application_name = 'sluice listen' and datname = current_database()`,
  )
  expect(rows).toEqual([{ gone: true }])
  await client.query('select sluice.cancel(array[$1::bigint], null)', [id])
  await client.query('commit')

  expect(await worker.hears('aborted', id)).toMatchObject({ reason: 'canceled' })
  await endsAsCanceled(onlooker, id)
})

test('[E-22] a canceled job whose process dies ends as canceled and is not run again', async ({ client, engines, program }) => {
  await client.query(effectTable)
  const entered: number[] = []
  const survivor = engines({ kinds: stepKinds, services: { enter: ({ id }: { id: number }) => entered.push(id) }, lease: '1s' })
  const { id, worker } = await startedIn(program('step-worker', { ...long, lease: '1s', stubborn: true }), survivor)
  await survivor.cancel(id)
  await worker.hears('aborted', id)
  expect(await survivor.why(id)).toMatchObject({ reason: 'stopping' })
  worker.signal('SIGKILL')
  await worker.ended

  await survivor.start()
  await endsAsCanceled(survivor, id)
  expect(await survivor.attempts(id)).toMatchObject([{ outcome: 'lost' }, { outcome: 'canceled' }])
  expect(entered).toEqual([])
  expect((await client.query('select from effect')).rows).toEqual([])
})

test('[E-22] a job that does not run is canceled at once, whatever it waits for', async ({ engines }) => {
  const fails = defineKind('fails', { run: () => fail(new Error('no')) })
  const waits = defineKind('waits', { run: () => {} })
  const paused = defineKind('paused', { run: () => {} })
  const engine = engines({ kinds: [fails, waits, paused] })
  await engine.pause({ scope: 'kind', name: 'paused' })
  await engine.start()
  const failing = await engine.enqueue(fails({}))
  await eventually(async () => (await engine.find(failing.id))?.state === 'failed')
  const nobodysPool = await engine.enqueue(waits({}, { pool: 'nobody' }))
  const scheduled = await engine.enqueue(waits({}, { delay: '1h' }))
  const aside = await engine.enqueue(paused({}))
  const jobs = { failed: failing.id, ready: nobodysPool.id, scheduled: scheduled.id, paused: aside.id }

  for (const [state, id] of Object.entries(jobs)) {
    expect(await engine.find(id)).toMatchObject({ state })
    expect(await engine.cancel(id)).toEqual(new Map([[id, 'canceled']]))
    expect(await engine.find(id)).toMatchObject({ state: 'canceled', finishedAt: expect.any(Date) })
  }
})

test('[E-22] a subtree is canceled, running handlers included, and nothing beside it', async ({ client, engines, program }) => {
  await client.query(effectTable)
  const leaf = defineKind('leaf', { run: () => {} })
  const branch = defineKind('branch', {
    run: () => done({ next: [leaf({}, { delay: '1h' }), { kind: 'step.write', payload: {}, options: { pool: 'elsewhere' } }] }),
  })
  const root = defineKind('root', { run: () => done({ next: [branch({ side: 'left' }), branch({ side: 'right' })] }) })
  const worker = program('step-worker', { ...long, pools: { elsewhere: { core: 2, max: 2 } } })
  await worker.hears('worker')
  const engine = engines({ kinds: [root, branch, leaf] })
  await engine.start()
  const tree = await engine.enqueue(root({}))
  const running = await eventually(() => {
    const started = worker.said.filter((line) => 'started' in line).map(({ started }) => started as number)
    return started.length === 2 && started
  })

  const { rows } = await client.query(`select id::int from sluice.job_ledger where kind = 'branch' order by id`)
  const [left, right] = rows.map(({ id }) => id as number)
  const [leftRuns, rightRuns] = (await Promise.all(running.map((id) => engine.find(id))))
    .toSorted((a, b) => a!.parent! - b!.parent!)
    .map((job) => Number(job!.id))
  const answers = await engine.cancel(left!, { tree: true })
  expect([...answers.values()].toSorted()).toEqual(['canceled', 'not live', 'requested'])
  expect(answers.get(leftRuns!)).toBe('requested')
  await worker.hears('aborted', leftRuns)
  await endsAsCanceled(engine, leftRuns!)
  const { rows: live } = await client.query(
    'select parent::int, sluice.state_of(shelf, worker) as state from sluice.job order by state',
  )
  expect(live).toEqual([
    { parent: right, state: 'scheduled' },
    { parent: right, state: 'running' },
  ])

  await engine.cancel(tree.id, { tree: true })
  await worker.hears('aborted', rightRuns)
  await eventually(async () => (await client.query('select from sluice.job')).rows.length === 0)
})

async function startedIn(worker: Program, onlooker: Engine): Promise<{ id: number; worker: Program }> {
  await worker.hears('worker')
  const { id } = await onlooker.enqueue(stepWrite({}))
  await worker.hears('started', id)
  return { id, worker }
}

async function endsAsCanceled(onlooker: Engine, id: number): Promise<void> {
  await eventually(async () => (await onlooker.find(id))?.state === 'canceled')
}

test('[E-22] [E-09] a parent that was canceled with its tree and ends well all the same takes its children along', async ({
  client,
  engines,
}) => {
  let end = () => {}
  const leaf = defineKind('leaf', { run: async () => {} })
  const deaf = defineKind('deaf', {
    run: async () => {
      await new Promise<void>((resolve) => {
        end = resolve
      })
      return done({ next: [leaf({ n: 1 }), leaf({ n: 2 })] })
    },
  })
  const engine = engines({ kinds: [leaf, deaf] })
  await engine.start()
  const { id } = await engine.enqueue(deaf({}))
  await eventually(async () => (await engine.find(id))?.state === 'running')
  expect(await engine.cancel(id, { tree: true })).toEqual(new Map([[id, 'requested']]))
  end()
  await eventually(async () => (await client.query('select from sluice.job')).rowCount === 0)
  const { rows } = await client.query('select kind, state, count(*)::int from sluice.job_ledger group by 1, 2 order by 1')
  expect(rows).toEqual([
    { kind: 'deaf', state: 'succeeded', count: 1 },
    { kind: 'leaf', state: 'canceled', count: 2 },
  ])
})
