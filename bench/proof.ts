/**
 * Proof that nothing was switched off to look fast. Any of these that does not hold ends the bench with exit code 1.
 */
import { claimText, enqueueText, settleText } from './contenders/floor.ts'
import type { Ground } from './ground.ts'
import { type Database, within } from './servers/postgres.ts'

export class ProofFailed extends Error {}

export function prove(holds: boolean, sentence: string): void {
  if (!holds) throw new ProofFailed(`proof failed: ${sentence}`)
}

export async function proveDurable(ground: Ground): Promise<Record<string, string>> {
  const settings = ['fsync', 'synchronous_commit', 'full_page_writes']
  const rows = await ground.postgres.ask<{ name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1)',
    [settings],
  )
  for (const { name, setting } of rows) prove(setting === 'on', `${name} is on (it is ${setting})`)
  const overridden = await ground.postgres.ask('select from pg_db_role_setting')
  prove(rows.length === settings.length && overridden.length === 0, 'no role or database overrides a setting')
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
}

/** These processes and the bench itself are all different. */
export function proveApart(who: string, pids: readonly number[]): void {
  const apart = new Set([process.pid, ...pids]).size === pids.length + 1
  prove(apart, `${who}: in processes of their own (${pids.join(', ')}, and the bench is ${process.pid})`)
}

/** Every job is waiting with a dedupe key of its own. */
export async function proveKeyed({ url }: Database, jobs: number): Promise<void> {
  const [row] = await ask<{ jobs: number; keys: number }>(
    url,
    `select count(*)::int as jobs, count(distinct key)::int as keys from sluice.job where kind = 'bench.noop' and shelf is null and worker is null`,
  )
  prove(row?.jobs === jobs && row.keys === jobs, `${jobs} jobs are ready, each with a dedupe key (${JSON.stringify(row)})`)
}

/** So many jobs are of another day, each with a dedupe key of its own. */
export async function proveFuture({ url }: Database, jobs: number): Promise<void> {
  const [row] = await ask<{ jobs: number; keys: number }>(
    url,
    `select count(*)::int as jobs, count(distinct key)::int as keys
     from sluice.job where shelf = 'scheduled' and run_at > sluice.now()`,
  )
  prove(
    row?.jobs === jobs && row.keys === jobs,
    `${jobs} jobs are still to come, each with a dedupe key (${JSON.stringify(row)})`,
  )
}

/** Every job left the job table for the ledger, once, with its key and a fence. */
export async function proveBooked({ url }: Database, jobs: number, kind = 'bench.noop'): Promise<void> {
  const [row] = await ask<{ booked: number; ids: number; keys: number; fences: number; left: number }>(
    url,
    `select count(*)::int as booked, count(distinct id)::int as ids, count(distinct key)::int as keys,
            count(*) filter (where fence > 0)::int as fences,
            (select count(*)::int from sluice.job where kind = $1 and shelf is null) as left
     from sluice.job_ledger where kind = $1 and state = 'succeeded'`,
    [kind],
  )
  const { booked, ids, keys, fences, left } = row ?? {}
  const whole = [booked, ids, keys, fences].every((count) => count === jobs) && left === 0
  prove(whole, `${jobs} jobs are in the ledger once, with key and fence, and none is left (${JSON.stringify(row)})`)
}

/** Jobs succeeded, and each left the job table for the ledger, once, with a fence. For kinds that have no keys. */
export async function proveSoundLedger({ url }: Database): Promise<void> {
  const [row] = await ask<{ booked: number; ids: number; fences: number; left: number }>(
    url,
    `select count(*)::int as booked, count(distinct id)::int as ids, count(*) filter (where fence > 0)::int as fences,
            (select count(*)::int from sluice.job j
             where exists (select from sluice.job_ledger l where l.id = j.id and l.state = 'succeeded')) as left
     from sluice.job_ledger where state = 'succeeded'`,
  )
  const { booked = 0, ids, fences, left } = row ?? {}
  const whole = booked > 0 && ids === booked && fences === booked && left === 0
  prove(whole, `what succeeded is in the ledger once, with a fence, and nowhere else (${JSON.stringify(row)})`)
}

/** The floor's statements are the engine's, to the letter: PostgreSQL saw the engine send them in this database. */
export async function proveSameStatements(ground: Ground, database: Database, which: 'drain' | 'enqueue'): Promise<void> {
  for (const text of which === 'drain' ? [claimText, settleText] : [enqueueText]) {
    const seen = await ground.postgres.ask(
      `select from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = $1 and s.query = $2`,
      [database.name, text],
    )
    prove(seen.length > 0, `the engine sends what the floor sends: ${text}`)
  }
}

const ask = <Row extends object>(url: string, text: string, values: unknown[] = []) =>
  within(url, async (client) => (await client.query<Row>(text, values)).rows)
