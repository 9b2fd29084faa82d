/** Who has something of ours in an open transaction keeps no process from its lease. */
import pg from 'pg'
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'

/** Somebody with an open transaction. */
const begun = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  await client.query('begin')
  return client
}

test('[E-07] somebody who locks the whole table of jobs keeps no process from its lease', async ({
  engines,
  client,
  database,
}) => {
  const engine = engines({ kinds: [defineKind('k', { run: () => {} })], lease: '1s' })
  await engine.start()
  const beatAt = async (): Promise<number> =>
    Number((await client.query('select date_part($1, beat_at) * 1000 as ms from sluice.worker', ['epoch'])).rows[0].ms)
  const person = await begun(database.url)
  await person.query('lock table sluice.job in exclusive mode')
  const lockedAt = await beatAt()
  await eventually(async () => (await beatAt()) > lockedAt + 2_000) // two leases
  expect(engine.status()).toMatchObject({ ready: true, leads: true })
  await person.query('rollback')
  await person.end()
})

test.for([
  ['a job of it', 'select from sluice.job where fence = 5 for update'],
  ['the table of jobs', 'lock table sluice.job in exclusive mode'],
] as const)(
  '[E-07] somebody who holds %s keeps it from its lease neither when it listens anew and looks for claims that got lost',
  async ([_what, hold], { engines, client, database }) => {
    const engine = engines({ kinds: [defineKind('k', { run: () => {} })], lease: '2s' })
    await engine.start()
    const { rows } = await client.query('select id from sluice.worker')
    const beats = async (): Promise<number> =>
      Number((await client.query('select date_part($1, beat_at) * 1000 as ms from sluice.worker', ['epoch'])).rows[0].ms)
    // Its answer got lost.
    await client.query(
      `insert into sluice.job (kind, pool, rank, payload, max_attempts, created_at, worker, attempt, started_at, fence)
       values ('k', 'light', 1, '{}', 5, now(), $1, 1, now(), 5)`,
      [rows[0].id],
    )
    const person = await begun(database.url)
    await person.query(hold)
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice listen' and datname = current_database()`,
    )
    const since = await beats()
    await eventually(async () => (await beats()) > since + 5_000) // two leases and more
    expect(engine.status()).toMatchObject({ ready: true, leads: true })
    expect((await client.query('select id from sluice.worker')).rows).toEqual(rows)
    await person.query('rollback')
    await person.end()
    await eventually(async () => (await client.query('select from sluice.job_ledger')).rowCount === 1)
  },
)
