/**
 * The ledger: finished jobs leave the hot table for the partition of their day, days are made ahead, and days past keeping are dropped
 * without holding up anybody who settles or reads.
 */
import { defineKind, fail, once, silentLog } from '@sluice/engine'
import pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { Pruner } from '#engine/maintenance/pruner'
import { Rescuer } from '#engine/maintenance/rescuer'
import { Database } from '#engine/postgres/database'
import { systemClock } from '#engine/support/clock'
import { auditWorker } from '#engine/worker/register'
import { test as base, eventually } from '../support/database.ts'

const note = defineKind('note', { payload: z.looseObject({}), run: () => {} })
const broken = defineKind('broken', { retry: once, run: () => fail(new Error('broken')) })
const kinds = [note, broken]

interface Fixtures {
  connections: Database
  /** The leader's pruner without a leader, so that a test decides when it runs. */
  pruner: (keepDays?: number) => Pruner
}

const test = base.extend<Fixtures>({
  connections: async ({ database }, use) => {
    const connections = new Database({ url: database.url, poolMax: 2, prepare: true, log: silentLog })
    await use(connections)
    await connections.close()
  },
  pruner: async ({ connections }, use) => {
    await use(
      (keepDays = 30) => new Pruner({ database: connections, clock: systemClock, log: silentLog, keepDays, term: () => 1 }),
    )
  },
})

async function days(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'sluice' and c.relname ~ '^(job_ledger|attempt)_\\d{8}$' order by 1`,
  )
  return rows.map(({ name }) => name)
}

async function dayName(client: pg.Client, parent: string, offsetDays = 0): Promise<string> {
  const { rows } = await client.query<{ day: string }>(
    `select to_char((sluice.now() at time zone 'UTC')::date + $1::int, 'YYYYMMDD') as day`,
    [offsetDays],
  )
  return `${parent}_${rows[0]!.day}`
}

const finished = (client: pg.Client, count: number) =>
  eventually(async () => (await client.query('select from sluice.job_ledger')).rowCount === count)

test.for(['UTC', 'Pacific/Kiritimati', 'America/Adak'])(
  '[E-24] finished jobs move to the partition of their day, whatever the time zone is (%s)',
  async (zone, { engines, client, database }) => {
    const name = new URL(database.url).pathname.slice(1)
    await client.query(`alter database ${name} set timezone = '${zone}'`)
    const engine = engines({ kinds })
    const [done, canceled, discarded] = await engine.enqueueMany([note({}), note({}, { delay: '1h' }), broken({})])
    await engine.cancel(canceled!.id)
    await engine.start()
    await eventually(async () => (await engine.find(discarded!.id))?.state === 'failed')
    await eventually(async () => (await engine.find(done!.id))?.state === 'succeeded')
    expect((await client.query('select id, sluice.state_of(shelf, worker) as state from sluice.job')).rows).toEqual([
      { id: `${discarded!.id}`, state: 'failed' },
    ])
    await engine.discard(discarded!.id)
    await finished(client, 3)
    const { rows } = await client.query(
      `select l.id::int, l.state, c.relname = 'job_ledger_' || to_char(l.finished_at at time zone 'UTC', 'YYYYMMDD') as fits
       from sluice.job_ledger l join pg_class c on c.oid = l.tableoid order by l.id`,
    )
    expect(rows).toEqual([
      { id: done!.id, state: 'succeeded', fits: true },
      { id: canceled!.id, state: 'canceled', fits: true },
      { id: discarded!.id, state: 'failed', fits: true },
    ])
    expect((await client.query('select from sluice.job')).rowCount).toBe(0)
  },
)

test('[E-24] days are made ahead, for finished jobs and for attempts', async ({ client, pruner }) => {
  const ahead = async (from: number) => {
    const names: string[] = []
    for (const parent of ['attempt', 'job_ledger'])
      for (let day = from; day <= 7; day++) names.push(await dayName(client, parent, day))
    return names.toSorted()
  }
  expect(await days(client)).toEqual(await ahead(0))
  for (const day of await ahead(1)) await client.query(`drop table sluice.${day}`)
  await pruner().runOnce()
  expect(await days(client)).toEqual(await ahead(0))
})

test('[E-24] a process that leads drops the days past keeping, and only those', async ({ engines, client }) => {
  await client.query(`select sluice.add_days((sluice.now() at time zone 'UTC')::date - 12, 11)`)
  const kept = [await dayName(client, 'job_ledger', -5), await dayName(client, 'attempt', -5)]
  await client.query(
    `insert into sluice.job_ledger (id, kind, pool, lane, state, priority, payload, attempt, fence, created_at, finished_at)
     select n, 'note', 'light', '', 'succeeded', 0, '{}', 1, 1, now(), (sluice.now() at time zone 'UTC')::date::timestamp at time zone 'UTC' - n * interval '1 day'
     from generate_series(1, 12) n`,
  )
  await engines({ kinds, keepDays: 5 }).start()
  await eventually(async () => (await days(client)).length === 2 * (5 + 1 + 7))
  expect(await days(client)).toEqual(expect.arrayContaining(kept))
  const { rows } = await client.query<{ id: number }>('select id::int from sluice.job_ledger order by id')
  expect(rows.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])
})

test('[E-24] a reader that holds a snapshot of the ledger holds up neither settling nor, once it is gone, pruning', async ({
  engines,
  client,
  pruner,
  database,
}) => {
  await client.query(`select sluice.add_days((sluice.now() at time zone 'UTC')::date - 40, 3)`)
  const engine = engines({ kinds, keepDays: 3_000 })
  await engine.start()
  const reader = new pg.Client(database.url)
  await reader.connect()
  await reader.query('begin isolation level repeatable read')
  await reader.query('select count(*) from sluice.job_ledger')

  const pruning = pruner().runOnce()
  const jobs = await engine.enqueueMany(Array.from({ length: 200 }, (_, n) => note({ n })))
  await finished(client, jobs.length)
  await pruning
  expect((await client.query('select from pg_inherits where inhdetachpending')).rowCount).toBe(1)
  await engine.enqueueMany(jobs.map((_, n) => note({ n })))
  await finished(client, 2 * jobs.length)
  expect((await reader.query('select from sluice.job_ledger')).rowCount).toBe(0)

  await reader.query('commit')
  await reader.end()
  await eventually(async () => {
    await pruner().runOnce()
    return JSON.stringify(await days(client)) === JSON.stringify(await present(client))
  })
})

test('[E-24] a pruner that died half-way leaves nothing behind for good', async ({ client, pruner }) => {
  await client.query(`select sluice.add_days((sluice.now() at time zone 'UTC')::date - 40, 1)`)
  const old = await dayName(client, 'job_ledger', -40)
  await client.query(`alter table sluice.job_ledger detach partition sluice.${old} concurrently`)
  await pruner().runOnce()
  expect(await days(client)).toEqual(await present(client))
})

/** The days that belong there: today and seven ahead. */
async function present(client: pg.Client): Promise<string[]> {
  const names: string[] = []
  for (const parent of ['attempt', 'job_ledger'])
    for (let day = 0; day <= 7; day++) names.push(await dayName(client, parent, day))
  return names.toSorted()
}

test('[E-24] a day that is missing heals by itself when a job ends', async ({ engines, client }) => {
  const engine = engines({ kinds: [...kinds, writes], services: {} })
  await client.query('create table effect (job bigint)')
  await engine.start()
  await eventually(() => engine.status().leads)
  const drop = async () => {
    for (const day of await days(client)) await client.query(`drop table sluice.${day}`)
  }
  for (const request of [note({}), writes({}), broken({})]) {
    await drop()
    const { id } = await engine.enqueue(request)
    await eventually(async () => ['succeeded', 'failed'].includes((await engine.find(id))?.state ?? ''))
    expect(await engine.find(id)).toMatchObject({ attempt: 1 })
  }
  expect((await client.query('select from effect')).rowCount).toBe(1)
})

const writes = defineKind('writes', {
  run: ({ id }) => ({ type: 'done', write: (tx) => tx.query('insert into effect values ($1)', [id]) }),
})

test('[E-24] a day that is missing heals when a job is canceled or discarded', async ({ engines, client }) => {
  const engine = engines({ kinds })
  const [later, bad] = await engine.enqueueMany([note({}, { delay: '1h' }), broken({})])
  await engine.start()
  await eventually(async () => (await engine.find(bad!.id))?.state === 'failed')
  for (const act of [() => engine.cancel(later!.id), () => engine.discard(bad!.id)]) {
    for (const day of await days(client)) await client.query(`drop table sluice.${day}`)
    await act()
  }
  expect(await engine.find(bad!.id)).toMatchObject({ state: 'failed', finishedAt: expect.any(Date) })
})

test('[E-24] [E-07] a day that is missing keeps nobody from the jobs of the dead, nor from claims that got lost', async ({
  engines,
  client,
  connections,
}) => {
  const engine = engines({ kinds })
  const [ofTheDead, lost] = await engine.enqueueMany([note({}), note({})])
  await client.query(`update sluice.leader set term = 1, worker = 1, until = 'infinity'`)
  await client.query(
    `insert into sluice.worker (id, name, lease_until) values (1, 'lives', 'infinity'), (2, 'dead', '-infinity')`,
  )
  const run = `update sluice.job set worker = $2, attempt = 1, fence = 5, started_at = now(), cancel_at = $3 where id = $1`
  await client.query(run, [ofTheDead!.id, 2, null])
  await client.query(run, [lost!.id, 1, new Date()])
  const drop = async () => {
    for (const day of await days(client)) await client.query(`drop table sluice.${day}`)
  }

  await drop()
  const leads = { database: connections, clock: systemClock, log: silentLog, term: () => 1 }
  const rescuer = new Rescuer({ ...leads, crashesMax: 3, onReady: () => {}, onLooked: () => {} })
  expect(await rescuer.runOnce()).toEqual({ rescued: 1, failed: 0 })
  expect(await engine.find(ofTheDead!.id)).toMatchObject({ state: 'ready', crashes: 1 })
  await drop()
  expect(await auditWorker(connections, 1, [])).toMatchObject({ jobs: 1 })
  expect(await engine.find(lost!.id)).toMatchObject({ state: 'canceled' })
})

test('[E-24] months later the engine goes on: new days are there, old ones go', async ({ engines, client, database }) => {
  const first = engines({ kinds, keepDays: 30 })
  await first.start()
  await first.enqueue(note({}))
  await finished(client, 1)
  await first.stop()
  // New sessions live forty days later.
  await client.query(`alter database ${new URL(database.url).pathname.slice(1)} set sluice.clock_offset = '40 days'`)
  const second = engines({ kinds, keepDays: 30 })
  await second.start()
  const { id } = await second.enqueue(note({}))
  await eventually(async () => (await second.find(id))?.state === 'succeeded')
  await eventually(async () => (await client.query('select from sluice.job_ledger')).rowCount === 1)
  const later = new pg.Client(database.url)
  await later.connect()
  await eventually(async () => JSON.stringify(await days(later)) === JSON.stringify(await present(later)))
  await later.end()
})

test('[E-05] unique windows that are over are pruned, those that hold are not', async ({ engines, client, pruner }) => {
  const engine = engines({ kinds })
  await engine.enqueue(note({}, { key: 'holds', uniqueFor: '1h' }))
  await client.query(
    `insert into sluice.key_window (key, until) select 'note/' || n, now() - interval '1 s' from generate_series(1, 25000) n`,
  )
  await pruner().runOnce()
  const { rows } = await client.query('select key from sluice.key_window')
  expect(rows).toEqual([{ key: 'note/holds' }])
  expect(await engine.enqueue(note({}, { key: '7', uniqueFor: '1h' }))).toMatchObject({ created: true })
})
