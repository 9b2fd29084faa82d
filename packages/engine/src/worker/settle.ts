/**
 * The statements that end claims (migrations/0003). Each checks the fences and answers the ids whose fence was old.
 */
import type pg from 'pg'
import type { Database, Statement } from '../postgres/database.ts'
import type { Claim } from './claim.ts'
import type { Verdict } from './judge.ts'

export interface Ended {
  readonly claim: Claim
  readonly verdict: Verdict
}

const doneStatement: Statement = {
  name: 'sluice_settle_done',
  text: 'select sluice.settle_done($1::bigint[], $2::bigint[])',
}

const settleStatement: Statement = {
  name: 'sluice_settle',
  text: 'select sluice.settle($1, $2::bigint[], $3::bigint[], $4::text[], $5::float8[], $6::timestamptz[], $7::jsonb[])',
}

export async function settle(
  database: Database,
  on: pg.Pool | pg.ClientBase,
  worker: number,
  group: readonly Ended[],
): Promise<number[]> {
  const ids = `{${group.map(({ claim }) => claim.id).join(',')}}`
  const fences = `{${group.map(({ claim }) => claim.fence).join(',')}}`
  if (group.every(({ verdict }) => verdict.outcome === 'done')) {
    const [row] = await database.send<[number[]]>(on, doneStatement, [ids, fences])
    return row?.[0] ?? []
  }
  const [row] = await database.send<[number[]]>(on, settleStatement, [
    worker,
    ids,
    fences,
    group.map(({ verdict }) => verdict.outcome),
    group.map(({ verdict }) => ('delayMs' in verdict ? verdict.delayMs : null)),
    group.map(({ verdict }) => ('runAt' in verdict ? verdict.runAt : null)),
    group.map(({ verdict }) => ('error' in verdict && verdict.error ? JSON.stringify(verdict.error) : null)),
  ])
  return row?.[0] ?? []
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
