/**
 * The statements that end claims (migrations/0008). Each checks the fences and answers the ids whose fence was old.
 */
import type pg from 'pg'
import type { Claim } from '../dispatch/claim.ts'
import { type BudgetReport, laterReport } from '../lane/budget-report.ts'
import type { Carrier, Database, Statement } from '../postgres/database.ts'
import type { Ended } from './ended.ts'

export interface Settled {
  /** Claims whose fence was old: somebody else owns these jobs now. */
  readonly stale: number[]
  /** Ends that are still to be counted in their lanes and runs, when children follow in the same transaction. */
  readonly inLanes: string | null
  readonly inRuns: string | null
  readonly said: string | null
  /** Ended well, but canceled with all that comes of them. */
  readonly below: number[]
}

const doneStatement: Statement = {
  name: 'sluice_settle_done',
  text: 'select stale, in_lanes::text, in_runs::text, below from sluice.settle_done($1::bigint[], $2::bigint[], $3, $4)',
}

const settleStatement: Statement = {
  name: 'sluice_settle',
  text: `select stale, in_lanes::text, in_runs::text, below
         from sluice.settle($1, $2::bigint[], $3::bigint[], $4::text[], $5::float8[], $6::timestamptz[], $7::jsonb[], $8::int[], $9::jsonb, $10, $11)`,
}

const countStatement: Statement = {
  name: 'sluice_count_ends',
  text: 'select sluice.count_ends($1::jsonb, $2::jsonb, $3::jsonb, $4::jsonb)',
}

/**
 * `last`: nothing follows in this transaction. Otherwise the caller counts the ends in their lanes and runs, after the children. `waitMs`: for so long it waits for
 * what is in somebody's hand; in a transaction that has a limit of its own, null.
 */
export async function settle(
  database: Database,
  on: Carrier,
  worker: number,
  group: readonly Ended[],
  last: boolean,
  waitMs: number | null,
): Promise<Settled> {
  const ids = `{${group.map(({ claim }) => claim.id).join(',')}}`
  const fences = `{${group.map(({ claim }) => claim.fence).join(',')}}`
  if (group.every(({ verdict, said }) => verdict.outcome === 'done' && !said))
    return read(await database.send<SettledRow>(on, doneStatement, [ids, fences, last, waitMs]), null)
  const reports = latestReports(group)
  const said = reports.length > 0 ? JSON.stringify(reports) : null
  const rows = await database.send<SettledRow>(on, settleStatement, [
    worker,
    ids,
    fences,
    group.map(({ verdict: { outcome } }) => (outcome === 'stopped' ? 'handed back' : outcome)),
    group.map(({ verdict }) => ('delayMs' in verdict ? verdict.delayMs : null)),
    group.map(({ verdict }) => ('runAt' in verdict ? verdict.runAt : null)),
    group.map(({ verdict }) => ('error' in verdict && verdict.error ? JSON.stringify(verdict.error) : null)),
    group.map(refundOf),
    said,
    last,
    waitMs,
  ])
  return read(rows, said)
}

/** What was added to a run: how many, and the range of their ids. */
export interface Added {
  readonly jobs: number
  readonly first: number
  readonly last: number
}

/** Counts ends and children in their lanes and runs; last in the transaction, because these rows are shared. */
export async function countEnds(
  database: Database,
  on: pg.ClientBase,
  { inLanes, inRuns, said }: Settled,
  added: ReadonlyMap<number, Added>,
): Promise<void> {
  if (inLanes === null && inRuns === null && added.size === 0) return
  const children = added.size > 0 ? JSON.stringify(Object.fromEntries(added)) : null
  await database.send(on, countStatement, [inLanes, said, inRuns, children])
}

/** Those of the lanes for which a settle would have to wait now; all of them while the server is away. */
export async function findBusyLanes(database: Database, lanes: readonly string[]): Promise<readonly string[]> {
  const statement = { name: 'sluice_busy_lanes', text: 'select sluice.busy_lanes($1::text[])' }
  try {
    const [row] = await database.send<[string[]]>(database.hot, statement, [lanes])
    return row?.[0] ?? []
  } catch {
    return lanes
  }
}

/** Permits that were not used; null is all of them. */
function refundOf({ verdict, said }: Ended): number | null {
  return 'started' in verdict && !verdict.started ? null : (said?.refund ?? 0)
}

type SettledRow = [stale: number[], inLanes: string | null, inRuns: string | null, below: number[] | null]

function read([row]: SettledRow[], said: string | null): Settled {
  if (!row) throw new Error('a settle got no answer')
  return { stale: row[0], inLanes: row[1], inRuns: row[2], said, below: row[3] ?? [] }
}

/** Several answers about one lane in a group: the newest window counts, and in it the smallest number. */
function latestReports(group: readonly Ended[]): object[] {
  const lanes = new Map<string, BudgetReport>()
  for (const { claim, said } of group) {
    if (claim.lane === undefined || !said) continue
    const known = lanes.get(claim.lane)
    lanes.set(claim.lane, known ? laterReport(known, said) : said)
  }
  return [...lanes].map(([lane, { remaining, limit, resetAt, holdUntil }]) => ({
    lane,
    remaining,
    most: limit,
    reset_at: resetAt,
    hold_until: holdUntil,
  }))
}

/** Takes hold of the job's row under its fence before a handler writes, and finds the session that does. Nothing found: somebody else owns the job now. */
export function holdText({ id, fence }: Claim): string {
  return `select * from sluice.hold_claim(${id}, ${fence})`
}

/** Ends one claim well, as text, to travel with the commit. Finds the claim if its fence was old. */
export function doneText({ id, fence }: Claim): string {
  return `select unnest(stale) from sluice.settle_done('{${id}}', '{${fence}}', true, 500)`
}
