/**
 * The rights of the role that a process works with. It need not own anything, but what it lacks would show days later, in the middle of a job: so it is asked at the door.
 */
import sql from 'sql-template-tag'
import { SluiceError } from '../support/errors.ts'
import type { Executor } from './client.ts'

/** Those of the engine; what a server keeps beside them in the same schema is not for every process. */
export const tables = [
  'attempt',
  'event',
  'event_type',
  'job',
  'job_ledger',
  'job_log',
  'key_window',
  'kind',
  'lane',
  'lane_class',
  'leader',
  'migration',
  'owner',
  'parcel',
  'pause',
  'run',
  'run_key',
  'schedule',
  'secret',
  'setting',
  'subscription',
  'turn',
  'worker',
]

interface Lack {
  readonly schema: string
  readonly what: string
  readonly role: string
}

/** Refuses a role that was not let in, with the statement that does it. `schemas` are those of packages that stand on the engine. */
export async function checkRights(on: Executor, schemas: readonly string[] = []): Promise<void> {
  const { rows } = await on.query<Lack>(sql`
    with asked as (select n.oid, n.nspname::text as schema from pg_namespace n where n.nspname = any(${['sluice', ...schemas]}))
    select l.schema, l.what, current_user as role
    from (
      select a.schema, 'schema ' || a.schema as what from asked a where not has_schema_privilege(a.oid, 'usage')
      union all
      select a.schema, 'table ' || c.relname from asked a join pg_class c on c.relnamespace = a.oid
      where case when c.relkind in ('r', 'p', 'v') and (a.schema <> 'sluice' or c.relname = any(${tables})) then
        exists (select from unnest(case when c.relkind = 'v' then array['select'] else array['select', 'insert', 'update', 'delete'] end) as needed
                where not has_table_privilege(c.oid, needed)) end
      union all
      select a.schema, 'sequence ' || c.relname from asked a join pg_class c on c.relnamespace = a.oid
      where case when c.relkind = 'S' then not has_sequence_privilege(c.oid, 'usage') end      -- of nothing else it may be asked
      union all
      select a.schema, 'function ' || p.proname from asked a join pg_proc p on p.pronamespace = a.oid
      where not has_function_privilege(p.oid, 'execute')) l
    order by l.schema = 'sluice' desc, l.schema, l.what not like 'schema %', l.what`)
  const [first, ...others] = rows
  if (!first) return
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  const names = first.schema === 'sluice' ? [first.role] : [first.role, first.schema]
  const args = names.map((name) => `'${name.replaceAll("'", "''")}'`).join(', ')
  throw new SluiceError('DATABASE_REFUSED', {
    reason: `the role "${first.role}" lacks rights on ${first.what}${more}`,
    advice: `Let the role that owns the schema run: select sluice.admit(${args})`,
  })
}
