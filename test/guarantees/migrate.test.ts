/**
 * Migrations: forward only, any number of processes at once, all or nothing, and an older process goes on beside a newer schema as long as
 * that schema says it may.
 */
import { readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineKind, done, migrate, pendingMigrations } from '@sluice/engine'
import { createTestDatabase } from '@sluice/local-postgres/testing'
import pg from 'pg'
import { expect, inject } from 'vitest'
import { z } from 'zod'
import { describeSchema } from '#scripts/describe-schema'
import { eventually } from '../support/database.ts'
import { test as base } from '../support/processes.ts'

const files = readdirSync(new URL('../../packages/engine/migrations/', import.meta.url))
  .filter((file) => file.endsWith('.sql'))
  .toSorted()
/** Numbers may have gaps. */
const latest = Number(files.at(-1)?.slice(0, 4))

/** `empty` is a database without a schema, and a connection to it. */
const test = base.extend<{ empty: { url: string; client: pg.Client } }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  empty: async ({}, use) => {
    const database = await createTestDatabase({ serverUrl: inject('serverUrl'), template: 'template0' })
    const client = new pg.Client(database.url)
    await client.connect()
    await use({ url: database.url, client })
    await client.end()
    await database.drop()
  },
})

const applied = async (client: pg.Client) =>
  (await client.query<{ file: string }>('select file from sluice.migration order by number')).rows.map(({ file }) => file)

const note = defineKind('note', { payload: z.looseObject({ n: z.int().optional() }), run: () => {} })

test('[O-11] eight processes migrate one empty database at once: all succeed, each migration is applied once', async ({
  empty,
  client,
  program,
}) => {
  const programs = Array.from({ length: 8 }, () => program('migrate-once', { database: empty.url }))
  for (const one of programs) await one.hears('waits')
  for (const one of programs) one.tell({ go: true })
  const endings = await Promise.all(programs.map((one) => one.ended))
  expect(
    endings.map(({ code }) => code),
    programs.map(({ complaints }) => complaints).join(''),
  ).toEqual(programs.map(() => 0))
  const answers = await Promise.all(programs.map((one) => one.hears('applied')))
  expect(answers.flatMap((answer) => answer['applied'] as string[]).toSorted()).toEqual(files)
  expect(new Set(answers.map((answer) => answer['version']))).toEqual(new Set([latest]))
  expect(await applied(empty.client)).toEqual(files)
  expect(await describeSchema(empty.client)).toEqual(await describeSchema(client))
})

test('[O-11] eight engines start on one empty database at once and all of them work', async ({ empty, engines }) => {
  const eight = Array.from({ length: 8 }, () => engines({ database: empty.url, kinds: [note], poolMax: 2 }))
  await Promise.all(eight.map((engine) => engine.start()))
  expect(new Set(eight.map((engine) => engine.status().worker)).size).toBe(8)
  await Promise.all(eight.flatMap((engine) => [engine.enqueue(note({})), engine.enqueue(note({}))]))
  await eventually(async () => (await empty.client.query('select from sluice.job_ledger')).rowCount === 16)
  await Promise.all(eight.map((engine) => engine.stop()))
})

test('[O-11] a process killed in the middle of a migration leaves nothing half-done', async ({ empty, program }) => {
  // The last thing the first file does is to make days; holding their lock stops the migration right there.
  await empty.client.query(`select pg_advisory_lock(hashtext('sluice.add_days'))`)
  const migrating = program('migrate-once', { database: empty.url })
  await migrating.hears('waits')
  migrating.tell({ go: true })
  const sessions = `select from pg_stat_activity where datname = current_database() and application_name = 'sluice migrate'`
  const waiting = `${sessions} and wait_event_type = 'Lock'`
  await eventually(async () => (await empty.client.query(waiting)).rowCount === 1)
  migrating.signal('SIGKILL')
  await migrating.ended
  await empty.client.query('select pg_advisory_unlock_all()')
  await eventually(async () => (await empty.client.query(sessions)).rowCount === 0)
  expect((await empty.client.query(`select from pg_namespace where nspname = 'sluice'`)).rowCount).toBe(0)
  expect((await migrate(empty.url)).applied).toEqual(files)
})

test('[O-11] a migration that fails leaves nothing half-done and can be tried again', async ({ empty }) => {
  await empty.client.query('create schema sluice; create table sluice.pause (mine int)')
  await expect(migrate(empty.url)).rejects.toThrow('already exists')
  const { rows } = await empty.client.query(`select relname from pg_class where relnamespace = 'sluice'::regnamespace`)
  expect(rows).toEqual([{ relname: 'pause' }])
  await empty.client.query('drop table sluice.pause')
  expect((await migrate(empty.url)).applied).toEqual(files)
})

test('[O-11] migrating again changes nothing', async ({ database, client }) => {
  const before = await describeSchema(client)
  expect(await migrate(database.url)).toEqual({ applied: [], version: latest })
  expect(await describeSchema(client)).toEqual(before)
})

test('[O-11] an older process starts and works beside a newer schema that is compatible with it', async ({
  engines,
  client,
  database,
}) => {
  await client.query(`insert into sluice.migration values ('engine', 9999, '9999_future.sql', 'digest', 1)`)
  expect(await migrate(database.url)).toEqual({ applied: [], version: 9999 })
  const engine = engines({ kinds: [note] })
  await engine.start()
  const { id } = await engine.enqueue(note({}))
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  expect(await applied(client)).toEqual([...files, '9999_future.sql'])
})

test('[O-11] an older process refuses a newer schema that is not compatible with it', async ({ engines, client }) => {
  await client.query(`insert into sluice.migration values ('engine', 9999, '9999_future.sql', 'digest', ${latest + 1})`)
  await expect(engines({ kinds: [note] }).start()).rejects.toMatchObject({
    code: 'SCHEMA_INCOMPATIBLE',
    details: { needs: latest + 1, knows: latest },
    message: expect.stringContaining('Upgrade this process'),
  })
})

test('[O-11] a migration that was changed after it had been applied is refused', async ({ engines, client }) => {
  await client.query(`update sluice.migration set digest = 'other' where package = 'engine' and number = 1`)
  await expect(engines({ kinds: [note] }).start()).rejects.toMatchObject({ code: 'SCHEMA_CHANGED', details: { file: files[0] } })
})

test('[O-11] an older process goes on while the schema grows under it', async ({ engines, client }) => {
  const parent = defineKind('parent', {
    run: () => done({ write: (tx) => tx.query('insert into effect values (1)', []), next: [note({})] }),
  })
  const engine = engines({ kinds: [note, parent] })
  await client.query('create table effect (n int)')
  await engine.start()
  let enqueued = 0
  const load = async () => {
    await engine.enqueueMany(Array.from({ length: 20 }, (_, n) => (n % 2 ? note({ n }) : parent({}))))
    enqueued += 30
  }
  // What a later version may do and stay compatible: columns, indexes, and functions of the same shape.
  const growth = [
    'alter table sluice.job add column extra text',
    'alter table sluice.job_ledger add column extra text',
    `alter table sluice.job add column more jsonb not null default '{}'`,
    'create index job_extra on sluice.job (extra) where extra is not null',
    'alter table sluice.worker add column version text',
    'alter table sluice.leader add column since timestamptz',
    'alter table sluice.attempt add column extra text',
    'alter table sluice.kind add column extra text',
    'alter table sluice.setting add column extra int not null default 1',
    'alter table sluice.pause add column extra text',
  ]
  for (const statement of growth) {
    await Promise.all([load(), client.query(statement)])
    await load()
  }
  await eventually(async () => (await client.query('select from sluice.job_ledger')).rowCount === enqueued)
  expect((await client.query(`select from sluice.job_ledger where state <> 'succeeded' or attempt <> 1`)).rowCount).toBe(0)
  expect((await client.query('select from effect')).rowCount).toBe(enqueued / 3)
  expect(engine.status()).toMatchObject({ ready: true })
})

test('[O-11] a package on the engine brings migrations of its own, numbered by themselves and applied once', async ({
  empty,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-migrations-'))
  await writeFile(join(folder, '0001_shelf.sql'), 'create table shelf (id integer)')
  const shop = { name: 'shop', folder: pathToFileURL(`${folder}/`) }
  expect((await migrate(empty.url, [shop])).applied).toEqual([...files, '0001_shelf.sql'])
  expect((await migrate(empty.url, [shop])).applied).toEqual([])
  await writeFile(join(folder, '0001_shelf.sql'), 'create table shelf (id bigint)')
  await expect(migrate(empty.url, [shop])).rejects.toMatchObject({ code: 'SCHEMA_CHANGED' })
  expect((await migrate(empty.url)).applied).toEqual([])
  await rm(folder, { recursive: true })
})

test('[O-11] a process that may not migrate changes nothing, and says what the schema lacks', async ({ empty, engines }) => {
  const engine = engines({ database: empty.url, migrates: false })
  await expect(engine.pauses()).rejects.toMatchObject({
    code: 'SCHEMA_BEHIND',
    message: expect.stringMatching(/lacks everything.*may be the wrong database\. Run `sluice migrate`/),
  })
  const { rows } = await empty.client.query(`select from pg_namespace where nspname = 'sluice'`)
  expect(rows).toEqual([])
  expect(await pendingMigrations(empty.url)).toEqual(files)
  await migrate(empty.url)
  expect(await pendingMigrations(empty.url)).toEqual([])
  await expect(engine.pauses()).resolves.toEqual([])
})

test('[O-11] a process that has nothing to migrate waits for nobody who does', async ({ engines, client }) => {
  await client.query('begin; select pg_advisory_xact_lock(7158423001)')
  const engine = engines({ kinds: [note] })
  await engine.start()
  expect(engine.status()).toMatchObject({ ready: true })
  await client.query('rollback')
})
