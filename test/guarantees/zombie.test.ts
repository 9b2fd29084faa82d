/**
 * A worker that is stopped past its lease and then goes on changes nothing: its fences are old. The sleeper stops itself where its work is
 * done and its settle not yet sent, so that on waking it tries to settle before anybody can tell it that it was declared dead.
 */
import type pg from 'pg'
import { expect } from 'vitest'
import { effectTable, stepBoth, stepKinds, stepNext, stepPlain, stepWrite } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { test } from '../support/processes.ts'
import { drained, nothingWrong, tally } from '../support/tally.ts'

/** Its lease is so long that nobody takes it for dead, however slow it is; it takes office and rescues when the lease of the other ends. */
const calm = { kinds: stepKinds, services: { enter: () => {} }, lease: '60s' } as const
const asleep = { lease: '1s', signal: 'SIGSTOP' } as const

const shapes = [stepPlain, stepWrite, stepNext, stepBoth].map((kind) => [kind.kindName, kind] as const)

test.concurrent.for(shapes)(
  '[E-07] a woken zombie cannot record a result of %s while another process runs the job',
  async ([, kind], { client, engines, program }) => {
    await client.query(effectTable)
    let finish: () => void = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const other = engines({ ...calm, services: { enter: () => finished } })
    const sleeper = program('step-worker', { ...asleep, at: 'handler ended' })
    await sleeper.hears('worker')
    const { id } = await other.enqueue(kind({}))
    await sleeper.hears('reached')
    await other.start()
    await eventually(async () => (await other.find(id))?.worker === other.status().worker)

    const before = await everything(client)
    sleeper.signal('SIGCONT')
    // It does try to settle, and finds that the job is somebody else's.
    await sleeper.hears('point', 'settled')
    expect(await everything(client)).toEqual(before)

    finish()
    await drained(client)
    expect(await tally(client, [id])).toEqual(nothingWrong)
    expect(await other.find(id)).toMatchObject({ state: 'succeeded', worker: other.status().worker, attempt: 2 })
  },
)

test.concurrent.for(shapes)(
  '[E-07] a woken zombie cannot record a result of %s when the job has ended elsewhere',
  async ([, kind], { client, engines, program }) => {
    await client.query(effectTable)
    const other = engines(calm)
    const sleeper = program('step-worker', { ...asleep, at: 'handler ended' })
    await sleeper.hears('worker')
    const { id } = await other.enqueue(kind({}))
    await sleeper.hears('reached')
    await other.start()
    await drained(client)

    const before = await everything(client)
    sleeper.signal('SIGCONT')
    await sleeper.hears('point', 'settled')
    expect(await everything(client)).toEqual(before)
    expect(await tally(client, [id])).toEqual(nothingWrong)
  },
)

test('[E-07] a woken zombie comes back under a new id and goes on working', async ({ client, engines, program }) => {
  await client.query(effectTable)
  const other = engines(calm)
  const sleeper = program('step-worker', { ...asleep, at: 'handler ended' })
  const { worker } = await sleeper.hears('worker')
  const first = await other.enqueue(stepWrite({}))
  await sleeper.hears('reached')
  await other.start()
  await drained(client)

  sleeper.signal('SIGCONT')
  const reborn = () =>
    eventually(async () => {
      const { rows } = await client.query(`select id::int from sluice.worker where split_part(name, ':', 2) = $1 and id <> $2`, [
        String(sleeper.pid),
        worker,
      ])
      return rows[0]?.id as number | undefined
    })
  await reborn()
  await other.stop()
  const { rows } = await client.query(`select id::int from sluice.enqueue('step.both')`)
  const second = rows[0].id as number
  await drained(client)

  const { rows: workers } = await client.query('select distinct worker::int from sluice.job_ledger where id <> $1', [first.id])
  expect(workers).toEqual([{ worker: await reborn() }])
  expect(await tally(client, [first.id, second])).toEqual(nothingWrong)
})

test('[E-07] a handler that sleeps past its lease is told to stop when it wakes', async ({ client, engines, program }) => {
  await client.query(effectTable)
  const other = engines(calm)
  const { id } = await other.enqueue(stepWrite({}))
  const sleeper = program('step-worker', { ...asleep, at: 'handler', gated: ['step.write'] })
  await sleeper.hears('reached')
  await other.start()
  await drained(client)

  sleeper.signal('SIGCONT')
  expect(await sleeper.hears('aborted', id)).toMatchObject({ reason: 'lease lost' })
  sleeper.tell({ open: true })
  expect(await tally(client, [id])).toEqual(nothingWrong)
})

test('[E-07] a worker that sleeps inside its settle holds the job up for its lease, and cannot commit when it wakes', async ({
  client,
  engines,
  program,
}) => {
  await client.query(effectTable)
  const other = engines(calm)
  const sleeper = program('step-worker', { ...asleep, at: 'before commit' })
  await sleeper.hears('worker')
  const { id } = await other.enqueue(stepBoth({}))
  await sleeper.hears('reached')
  await other.start()
  await drained(client)

  const before = await everything(client)
  sleeper.signal('SIGCONT')
  await eventually(async () => {
    const { rows } = await client.query(`select from sluice.worker where split_part(name, ':', 2) = $1`, [String(sleeper.pid)])
    return rows.length === 1
  })
  expect(await everything(client)).toEqual(before)
  expect(await tally(client, [id])).toEqual(nothingWrong)
  expect(await other.find(id)).toMatchObject({ state: 'succeeded', worker: other.status().worker, attempt: 2 })
})

test('[E-07] a worker that sleeps inside its settle while nobody else is there runs the job again when it wakes', async ({
  client,
  engines,
  program,
}) => {
  await client.query(effectTable)
  const onlooker = engines(calm)
  const sleeper = program('step-worker', { ...asleep, at: 'before commit' })
  const { worker } = await sleeper.hears('worker')
  const { id } = await onlooker.enqueue(stepBoth({}))
  await sleeper.hears('reached')
  // The server gives up on its transaction after a lease, and nobody rescues the job.
  await eventually(async () => {
    const { rows } = await client.query(
      `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
    )
    return rows.length === 0
  })
  sleeper.signal('SIGCONT')
  await drained(client)
  expect(await tally(client, [id])).toEqual(nothingWrong)
  expect(await onlooker.find(id)).toMatchObject({ state: 'succeeded', worker })
})

/** Everything a settle could have changed. */
async function everything(client: pg.Client): Promise<unknown> {
  const { rows } = await client.query(`
    select (select json_agg(l order by l.id) from sluice.job_ledger l) as ledger,
           (select json_agg(j order by j.id) from sluice.job j) as jobs,
           (select json_agg(a order by a.job, a.ended_at) from sluice.attempt a) as attempts,
           (select json_agg(e order by e.job) from effect e) as effects`)
  return rows[0]
}
