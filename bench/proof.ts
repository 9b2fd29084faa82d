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

/** Every job is waiting with a dedupe key of its own. */
export async function proveKeyed({ url }: Database, jobs: number): Promise<void> {
  const [row] = await ask<{ jobs: number; keys: number }>(
    url,
    `select count(*)::int as jobs, count(distinct key)::int as keys from sluice.job where kind = 'bench.noop' and shelf is null and worker is null`,
  )
  prove(row?.jobs === jobs && row.keys === jobs, `${jobs} jobs are ready, each with a dedupe key (${JSON.stringify(row)})`)
}

/** Every job left the job table for the ledger, once, with its key and a fence. */
export async function proveBooked({ url }: Database, jobs: number): Promise<void> {
  const [row] = await ask<{ booked: number; ids: number; keys: number; fences: number; left: number }>(
    url,
    `select count(*)::int as booked, count(distinct id)::int as ids, count(distinct key)::int as keys,
            count(*) filter (where fence > 0)::int as fences,
            (select count(*)::int from sluice.job where kind = 'bench.noop' and shelf is null) as left
     from sluice.job_ledger where kind = 'bench.noop' and state = 'succeeded'`,
  )
  const { booked, ids, keys, fences, left } = row ?? {}
  const whole = [booked, ids, keys, fences].every((count) => count === jobs) && left === 0
  prove(whole, `${jobs} jobs are in the ledger once, with key and fence, and none is left (${JSON.stringify(row)})`)
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

const ask = <Row extends object>(url: string, text: string) => within(url, async (client) => (await client.query<Row>(text)).rows)
