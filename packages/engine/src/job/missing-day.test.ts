/** A day that is missing in our tables is made by whoever ends a job; one that is missing in a table of somebody else is not ours. */
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from './kind.ts'
import { done } from './outcome.ts'
import { once } from './retry.ts'

const dropDays = `do $$ declare day regclass; begin
  for day in select inhrelid::regclass from pg_inherits where inhparent in ('sluice.job_ledger'::regclass, 'sluice.attempt'::regclass) loop
    execute format('drop table %s', day);
  end loop;
end $$`

test('[E-24] whoever ends a job makes the day it belongs to, if none is there', async ({ engines, client }) => {
  const plain = defineKind('plain', { run: () => {} })
  const writes = defineKind('writes', { run: () => done({ write: (tx) => tx.query('select 1') }) })
  const engine = engines({ kinds: [plain, writes], lead: false })
  await engine.migrate()
  await client.query(dropDays)
  await engine.start()
  const jobs = await engine.enqueueMany([plain({}), writes({})])
  for (const { id } of jobs) await eventually(async () => (await engine.find(id))?.state === 'succeeded')
})

test('[E-06] [E-09] a write that fits no partition of its own table is a failed attempt, and holds up no other write', async ({
  engines,
  client,
}) => {
  await client.query('create table theirs (n integer) partition by range (n)')
  // As many as writes are under way at once.
  const bad = defineKind('bad', { retry: once, run: () => done({ write: (tx) => tx.query('insert into theirs values (1)') }) })
  const good = defineKind('good', { run: () => done({ write: (tx) => tx.query('select 1') }) })
  const engine = engines({ kinds: [bad, good], pools: { light: { core: 20, max: 20 } } })
  await engine.start()
  const jobs = await engine.enqueueMany([...Array.from({ length: 8 }, () => bad({})), good({})])
  const last = jobs.at(-1)?.id ?? 0
  await eventually(async () => (await engine.find(last))?.state === 'succeeded')
  await eventually(async () => (await engine.failed()).length === 8)
  expect((await engine.failed())[0]?.error?.message).toMatch(/no partition of relation "theirs"/)
})
