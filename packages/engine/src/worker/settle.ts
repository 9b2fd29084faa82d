/**
 * The statements that end claims (migrations/0008). Each checks the fences and answers the ids whose fence was old.
 */
import type pg from 'pg'
import { type BudgetReport, laterReport } from '../lane/budget-report.ts'
import type { Database, Statement } from '../postgres/database.ts'
import type { Claim } from './claim.ts'
import type { Verdict } from './judge.ts'

export interface Ended {
  readonly claim: Claim
  readonly verdict: Verdict
  /** What the server that was called said about the lane's budget. */
  readonly said?: BudgetReport | undefined
}

export interface Settled {
  /** Claims whose fence was old: somebody else owns these jobs now. */
  readonly stale: number[]
  /** Ends that are still to be counted in their runs, when children follow in the same transaction. */
  readonly inRuns: string | null
  /** Ended well, but canceled with all that comes of them. */
  readonly below: number[]
}

const doneStatement: Statement = {
  name: 'sluice_settle_done',
  text: 'select stale, in_runs::text, below from sluice.settle_done($1::bigint[], $2::bigint[], $3)',
}

const settleStatement: Statement = {
  name: 'sluice_settle',
  text: `select stale, in_runs::text, below
         from sluice.settle($1, $2::bigint[], $3::bigint[], $4::text[], $5::float8[], $6::timestamptz[], $7::jsonb[], $8::int[], $9::jsonb, $10)`,
}

const countStatement: Statement = {
  name: 'sluice_end_in_runs',
  text: `select sluice.end_in_runs(
           array(select row(e.run, e.job, e.state)::sluice.run_end
                 from jsonb_to_recordset($1::jsonb) as e(run bigint, job bigint, state sluice.job_state)), $2::jsonb)`,
}

/** `last`: nothing follows in this transaction. Otherwise the caller counts the ends in their runs, with the children. */
export async function settle(
  database: Database,
  on: pg.Pool | pg.ClientBase,
  worker: number,
  group: readonly Ended[],
  last: boolean,
): Promise<Settled> {
  const ids = `{${group.map(({ claim }) => claim.id).join(',')}}`
  const fences = `{${group.map(({ claim }) => claim.fence).join(',')}}`
  if (group.every(({ verdict, said }) => verdict.outcome === 'done' && !said))
    return read(await database.send<SettledRow>(on, doneStatement, [ids, fences, last]))
  const said = latestReports(group)
  const rows = await database.send<SettledRow>(on, settleStatement, [
    worker,
    ids,
    fences,
    group.map(({ verdict }) => verdict.outcome),
    group.map(({ verdict }) => ('delayMs' in verdict ? verdict.delayMs : null)),
    group.map(({ verdict }) => ('runAt' in verdict ? verdict.runAt : null)),
    group.map(({ verdict }) => ('error' in verdict && verdict.error ? JSON.stringify(verdict.error) : null)),
    group.map((ended) => ended.said?.refund ?? 0),
    said.length > 0 ? JSON.stringify(said) : null,
    last,
  ])
  return read(rows)
}

/** Counts ends and children in their runs; last in the transaction, because the rows of runs are shared. */
export async function countInRuns(
  database: Database,
  on: pg.ClientBase,
  inRuns: string | null,
  added: ReadonlyMap<number, number>,
): Promise<void> {
  if (inRuns === null && added.size === 0) return
  await database.send(on, countStatement, [inRuns ?? '[]', added.size > 0 ? JSON.stringify(Object.fromEntries(added)) : null])
}

type SettledRow = [stale: number[], inRuns: string | null, below: number[] | null]

function read([row]: SettledRow[]): Settled {
  if (!row) throw new Error('a settle got no answer')
  return { stale: row[0], inRuns: row[1], below: row[2] ?? [] }
}

/** Several answers about one lane in a group: the newest window counts, and in it the smallest number. */
function latestReports(group: readonly Ended[]): object[] {
  const lanes = new Map<string, BudgetReport>()
  for (const { claim, said } of group) {
    if (claim.lane === undefined || !said) continue
    const known = lanes.get(claim.lane)
    lanes.set(claim.lane, known ? laterReport(known, said) : said)
  }
  return [...lanes].map(([lane, { remaining, resetAt, holdUntil }]) => ({
    lane,
    remaining,
    reset_at: resetAt,
    hold_until: holdUntil,
  }))
}

/** Takes hold of the job's row under its fence before a handler writes. False: somebody else owns the job now. */
export async function lockClaim(database: Database, client: pg.ClientBase, claim: Claim): Promise<boolean> {
  const rows = await database.send(
    client,
    { name: 'sluice_lock_claim', text: 'select 1 from sluice.job where id = $1 and fence = $2 for update' },
    [claim.id, claim.fence],
  )
  return rows.length === 1
}
