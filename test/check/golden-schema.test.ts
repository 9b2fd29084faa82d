import { migrate } from '@sluice/engine'
import { createTestDatabase } from '@sluice/local-postgres/testing'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { describeSchema } from '#scripts/describe-schema'
import { read } from './document-rules.ts'
import { readTree } from './tree.ts'

/** The golden file is what the migrations make. When this fails: `npm run schema`, then read the difference. */
const it = test.extend<{ client: Client }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest asks for a destructured first argument.
  client: async ({}, use) => {
    const database = await createTestDatabase({ serverUrl: inject('serverUrl'), template: 'template0' })
    await migrate(database.url)
    const client = new Client({ connectionString: database.url })
    await client.connect()
    await use(client)
    await client.end()
    await database.drop()
  },
})

it('a migrated database looks like packages/engine/schema.sql', async ({ client }) => {
  expect(await describeSchema(client)).toBe(read(readTree(), 'packages/engine/schema.sql'))
})

it('the description sees every kind of change', async ({ client }) => {
  const changes = [
    'alter table sluice.job add column planted integer',
    'alter table sluice.job alter column planted set default 7',
    'alter table sluice.job alter column planted set not null',
    'alter table sluice.job add constraint planted_check check (planted > 0)',
    'alter table sluice.job set (fillfactor = 71)',
    'create index planted on sluice.job (planted)',
    "create type sluice.planted_type as enum ('a')",
    'create sequence sluice.planted_sequence',
    'create view sluice.planted_view as select id from sluice.job',
    'create function sluice.planted() returns integer language sql as $$ select 1 $$',
    'create or replace function sluice.planted() returns integer language sql as $$ select 2 $$',
    "comment on table sluice.job is 'planted'",
  ]
  let before = await describeSchema(client)
  for (const change of changes) {
    await client.query(change)
    const after = await describeSchema(client)
    expect(after, change).not.toBe(before)
    before = after
  }
})

it('the days of the ledger are left out', async ({ client }) => {
  const before = await describeSchema(client)
  await client.query(
    "create table sluice.planted_day partition of sluice.job_ledger for values from ('2001-01-01') to ('2001-01-02')",
  )
  expect(await describeSchema(client)).toBe(before)
})
