/**
 * The rights of the role that a process works with. It need not own anything, but what it lacks would show days later, in the middle of a job: so it is asked at the door.
 */
import sql from 'sql-template-tag'
import { SluiceError } from '../support/errors.ts'
import type { Executor } from './client.ts'

/** Those of the engine; what applications keep beside them is theirs to give. */
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
  readonly what: string
  readonly role: string
}

/** Refuses a role that was not let in, with the statement that does it. */
export async function checkRights(on: Executor): Promise<void> {
  const { rows } = await on.query<Lack>(sql`
    select l.what, current_user as role
    from (
      select 'table ' || c.relname as what from pg_class c
      where c.relnamespace = 'sluice'::regnamespace and c.relname = any(${tables})
        and exists (select from unnest(array['select', 'insert', 'update', 'delete']) as needed where not has_table_privilege(c.oid, needed))
      union all
      select 'sequence ' || c.relname from pg_class c
      where c.relnamespace = 'sluice'::regnamespace and case when c.relkind = 'S' then not has_sequence_privilege(c.oid, 'usage') end      -- of nothing else it may be asked
      union all
      select 'function ' || p.proname from pg_proc p
      where p.pronamespace = 'sluice'::regnamespace and not has_function_privilege(p.oid, 'execute')) l
    order by 1`)
  const [first, ...others] = rows
  if (!first) return
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  throw new SluiceError('DATABASE_REFUSED', {
    reason: `the role "${first.role}" lacks rights on ${first.what}${more}`,
    advice: `Let the role that owns the schema run: select sluice.admit('${first.role.replaceAll("'", "''")}')`,
  })
}
