/**
 * A role of its own for the application, where another one owns the tables: it may not create anything, and works for years all the same. What it lacks is said when it
 * starts, not when the days of the ledger run out.
 */
import { collectorMigrations } from '@sluice/collector'
import { defineKind, done } from '@sluice/engine'
import { expect } from 'vitest'
import { tables } from '#engine/postgres/rights'
import { test as base, eventually } from '../support/database.ts'

const note = defineKind('note', { run: () => done() })
const kinds = [note, defineKind('parent', { run: () => done({ next: [note({})] }) })]

const test = base.extend<{ role: string; asRole: string }>({
  role: async ({ client, database }, use) => {
    const role = `it's ${new URL(database.url).pathname.slice(1)}` // names may have anything in them
    await client.query(`create role "${role}" login`)
    await use(role)
    await client.query(`drop owned by "${role}"`)
    await client.query(`drop role "${role}"`)
  },
  asRole: async ({ database, role }, use) => {
    const url = new URL(database.url)
    url.username = encodeURIComponent(role)
    await use(url.href)
  },
})

test('[O-11] [E-24] a role that owns nothing works and leads, makes days that are missing and drops those past keeping', async ({
  client,
  engines,
  role,
  asRole,
}) => {
  await client.query('select sluice.admit($1)', [role])
  await client.query(`select sluice.add_days((sluice.now() at time zone 'UTC')::date - 40, 3)`)
  const days = async (which: '<' | '>='): Promise<string[]> => {
    const { rows } = await client.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
       where relnamespace = 'sluice'::regnamespace and relkind = 'r' and relname ~ '_[0-9]{8}$'
         and right(relname, 8) ${which} to_char(sluice.now() at time zone 'UTC', 'YYYYMMDD')`,
    )
    return rows.map(({ name }) => name)
  }
  const ahead = (await days('>=')).toSorted()
  expect(await days('<')).toHaveLength(4 * 3)
  const engine = engines({ database: asRole, kinds })
  await engine.start()
  await eventually(async () => (await days('<')).length === 0)
  await client.query(`drop table ${ahead.join(', ')}`)
  await engine.enqueue({ kind: 'parent', payload: {} })
  await eventually(
    async () => (await client.query(`select from sluice.job_ledger where state = 'succeeded' and attempt = 1`)).rowCount === 2,
  )
  expect((await days('>=')).toSorted()).toEqual(ahead)
})

test('[O-11] what later migrations make is open to it as well', async ({ client, role, asRole, engines }) => {
  await client.query('select sluice.admit($1)', [role])
  await client.query('create table sluice.later (id bigint generated always as identity, note text)')
  await client.query('create sequence sluice.later_still')
  await client.query(
    `create function sluice.even_later() returns bigint language sql as $$ select nextval('sluice.later_still') $$`,
  )
  await client.query('revoke execute on function sluice.even_later() from public')
  const engine = engines({ database: asRole, kinds })
  await engine.transaction(async (tx) => {
    await tx.query('insert into sluice.later (note) select sluice.even_later()::text')
    await tx.query('update sluice.later set note = null')
    await tx.query('delete from sluice.later')
  })
  await client.query('drop table sluice.later; drop function sluice.even_later; drop sequence sluice.later_still')
})

test.for([
  ['usage on schema sluice', /permission denied for schema sluice\. .*select sluice\.admit\('…'\)/],
  ['select on sluice.migration', /permission denied for table migration/],
  ['insert on sluice.job_log', /lacks rights on table job_log\. Let the role that owns/],
  ['usage on sequence sluice.job_id_seq, sluice.run_id_seq', /lacks rights on sequence job_id_seq and 1 more/],
  [
    'execute on function sluice.add_days(date, integer)',
    /lacks rights on function add_days\. .*: select sluice\.admit\('it''s test_\w+'\)/,
  ],
] as const)(
  '[O-11] a role without %s is refused when it starts, with what to do',
  async ([right, words], { client, engines, role, asRole }) => {
    await client.query('select sluice.admit($1)', [role])
    await client.query(`revoke ${right} from "${role}"`)
    await expect(engines({ database: asRole, kinds }).start()).rejects.toMatchObject({
      code: 'DATABASE_REFUSED',
      message: expect.stringMatching(words),
    })
    await client.query('select sluice.admit($1)', [role])
    await engines({ database: asRole, kinds }).start()
  },
)

test('[O-11] whoever was not let in makes and drops no days', async ({ client, role }) => {
  await client.query(`grant usage on schema sluice to "${role}"`)
  await client.query(`grant select, insert, update, delete on all tables in schema sluice to "${role}"`)
  await client.query(`set role "${role}"`)
  for (const call of [`sluice.add_days('2020-01-01', 3)`, `sluice.drop_day('job_ledger_20200101', 1)`])
    await expect(client.query(`select ${call}`)).rejects.toMatchObject({ code: '42501' })
  await client.query('reset role')
})

test('[O-11] a package with a schema of its own is asked about as well, and only the owner lets somebody in', async ({
  client,
  engines,
  role,
  asRole,
}) => {
  const migrations = [collectorMigrations]
  await engines({ kinds, migrations }).migrate()
  await client.query('select sluice.admit($1)', [role])
  await expect(engines({ database: asRole, kinds, migrations }).start()).rejects.toMatchObject({
    code: 'DATABASE_REFUSED',
    message: expect.stringMatching(
      /lacks rights on schema collector and \d+ more.*sluice\.admit\('it''s test_\w+', 'collector'\)/,
    ),
  })
  await client.query(`set role "${role}"`)
  await expect(client.query(`select sluice.admit('somebody')`)).rejects.toMatchObject({
    code: 'SL002',
    message: /only .* can let somebody in/,
  })
  await client.query('reset role')
  await expect(client.query(`select sluice.admit($1, 'colector')`, [role])).rejects.toMatchObject({ code: 'SL002' })
  await client.query(`select sluice.admit($1, 'collector')`, [role])
  await engines({ database: asRole, kinds, migrations }).start()
})

test('[O-11] all tables of the engine are asked for', async ({ client }) => {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'sluice'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  )
  expect(rows.map(({ name }) => name)).toEqual(tables)
})
