/**
 * A job that kills its process ends as failed instead of going round and round, and those that merely ran beside it do not: whoever was
 * held by two processes that died runs again alone, so that a third death speaks for itself.
 */
import { defineKind } from '@sluice/engine'
import { expect } from 'vitest'
import { eventually } from '../support/database.ts'
import { type Program, test } from '../support/processes.ts'

const neighbours = 4
const bystanders = 20

test('[E-08] a job that kills its process ends as failed, and its innocent neighbours do not', async ({
  client,
  engines,
  program,
}) => {
  await client.query('create table effect (job bigint not null)')
  const settings = { lease: '3s', besides: neighbours, pools: { light: { core: neighbours + 1, max: neighbours + 1 } } }
  const lives: Program[] = [program('poison-worker', settings)]
  await lives[0]!.hears('worker')
  const onlooker = engines()
  const request = (kind: string, priority: number) => ({ kind: `poison.${kind}`, payload: {}, options: { priority } })
  // In the same moment and in front of all others, so that they are claimed together.
  const group = await onlooker.enqueueMany([
    request('innocent', 9),
    request('innocent', 9),
    request('deadly', 9),
    request('innocent', 9),
    request('innocent', 9),
    ...Array.from({ length: bystanders }, () => request('bystander', 0)),
  ])
  const deadly = group[2]!.id
  const innocent = group.map(({ id }) => id).filter((id) => id !== deadly)

  // Whenever the process dies, somebody starts it again.
  await eventually(async () => {
    if (!lives.at(-1)!.alive) lives.push(program('poison-worker', settings))
    const { rows } = await client.query(`select from sluice.job where shelf is distinct from 'failed' limit 1`)
    return rows.length === 0
  }, 90_000)

  expect(await onlooker.find(deadly)).toMatchObject({ state: 'failed', crashes: 3, attempt: 3, error: { code: 'POISON' } })
  for (const id of innocent) expect(await onlooker.find(id)).toMatchObject({ state: 'succeeded' })
  const { rows: effects } = await client.query('select job::int from effect order by job')
  expect(effects.map(({ job }) => job)).toEqual(innocent)

  // Three processes died: two with all five on board (and whoever else was there), the third with the deadly one alone.
  const { rows: lost } = await client.query(
    `select array_agg(job::int order by job) as jobs from sluice.attempt where outcome = 'lost' group by worker order by worker`,
  )
  const five = group.slice(0, neighbours + 1).map(({ id }) => id)
  expect(lost).toEqual([{ jobs: expect.arrayContaining(five) }, { jobs: expect.arrayContaining(five) }, { jobs: [deadly] }])
  const lastRun = lives.flatMap(({ said }) => said).findLast(({ started }) => started === deadly)
  expect(lastRun).toMatchObject({ attempt: 3, beside: [] })
  // The innocent ones ran alone as well: nobody would have known whom to blame otherwise.
  const alone = lives.flatMap(({ said }) => said).filter(({ kind, attempt }) => kind === 'poison.innocent' && attempt === 3)
  expect(alone).toHaveLength(neighbours)
  for (const { beside } of alone) expect(beside).toEqual([])
})

test('[E-08] a failed poison job can be retried by hand and starts with a clean record', async ({ client, engines, program }) => {
  await client.query('create table effect (job bigint not null)')
  const settings = { lease: '3s', besides: 0 }
  let life = program('poison-worker', settings)
  await life.hears('worker')
  const onlooker = engines()
  const { id } = await onlooker.enqueue({ kind: 'poison.deadly', payload: {} })
  await eventually(async () => {
    if (!life.alive) life = program('poison-worker', settings)
    return (await onlooker.find(id))?.state === 'failed'
  }, 60_000)
  expect(await onlooker.why(id)).toMatchObject({ reason: 'failed' })

  // Paused, so that nobody takes it up before we have looked.
  await onlooker.pause({ scope: 'kind', name: 'poison.deadly' })
  expect(await onlooker.retry(id)).toEqual(new Map([[id, 'retried']]))
  expect(await onlooker.find(id)).toMatchObject({ state: 'paused', crashes: 0, attempt: 0 })
})

test('[E-08] a suspect makes one busy process wait for its other jobs; the others go on, and an idle one takes it', async ({
  client,
  engines,
}) => {
  let finish: () => void = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const long = defineKind('long', { pool: 'heavy', run: () => finished })
  const quick = defineKind('quick', { run: () => {} })
  const scene = { kinds: [long, quick], lease: '6s', pools: { light: { core: 5, max: 5 }, heavy: { core: 1, max: 1 } } } as const
  const onlyHere = defineKind('only.here', { run: () => {} })
  const busy = engines({ ...scene, kinds: [long, quick, onlyHere] })
  const [alsoBusy, idle] = [engines(scene), engines(scene)]
  await busy.start()
  await alsoBusy.start()
  const longs = await busy.enqueueMany([long({}), long({})])
  await eventually(() => busy.status().running === 1 && alsoBusy.status().running === 1)

  const suspect = await busy.enqueue(quick({}, { delay: '1h' }))
  await client.query(`update sluice.job set shelf = null, run_at = null, crashes = 2 where id = $1`, [suspect.id])
  const beats = async () => (await client.query('select min(beat_at) as at from sluice.worker')).rows[0].at as Date
  const noticedAfter = (await client.query('select sluice.now() as at')).rows[0].at as Date
  await eventually(async () => (await beats()) > noticedAfter)
  const others = await busy.enqueueMany(Array.from({ length: 50 }, () => quick({})))
  for (const { id } of others) await eventually(async () => (await busy.find(id))?.state === 'succeeded')
  expect(await busy.find(suspect.id)).toMatchObject({ state: 'ready', attempt: 0 })

  await idle.start()
  await eventually(async () => (await busy.find(suspect.id))?.state === 'succeeded')
  expect(await busy.find(suspect.id)).toMatchObject({ worker: idle.status().worker })
  // The one that made room has nothing to wait for any more, and goes on beside its long job.
  const own = await busy.enqueue(onlyHere({}))
  await eventually(async () => (await busy.find(own.id))?.state === 'succeeded')
  for (const { id } of longs) expect(await busy.find(id)).toMatchObject({ state: 'running' })
  finish()
  for (const { id } of longs) await eventually(async () => (await busy.find(id))?.state === 'succeeded')
})
