/**
 * The statements that take jobs out of PostgreSQL in its own order.
 *
 * One call of `sluice.claim` (migrations/0006): 10 µs a job at five hundred a call, measured with keys, checks and fences on.
 */
import type { Database, Statement } from '../../postgres/database.ts'
import { type Claim, type ClaimRow, claimColumns as columns, toClaim } from '../claim.ts'

/** What came of a look at the lanes. */
export interface LanedClaims {
  readonly claims: Claim[]
  /** A lane was passed over or had more: look again. */
  readonly again: boolean
  /** Closed or empty lanes were put out of the way: the next look sees others. */
  readonly moved: boolean
}

const claimStatement: Statement = { name: 'sluice_claim', text: `select ${columns} from sluice.claim($1, $2, $3, $4, $5)` }

const lanedStatement: Statement = {
  name: 'sluice_claim_laned',
  text: `select ${columns}, lane, again, moved from sluice.claim_laned($1, $2, $3, $4, $5, $6)`,
}

const suspectStatement: Statement = {
  name: 'sluice_claim_suspect',
  text: `select ${columns}, lane from sluice.claim_suspect($1, $2)`,
}

type LanedRow = [...Required<ClaimRow>, again: boolean, moved: boolean]
/** More lanes a claim would share its slots too thinly; fewer would let a stranger wait. */
const lanesMax = 16

export const lowestRank = Number.MIN_SAFE_INTEGER

export interface ClaimRequest {
  readonly pool: string
  readonly worker: number
  readonly slots: number
  /** Nothing below this rank is looked at: it lets the scan start past dead index entries. */
  readonly since: number
  readonly unknownKinds: readonly string[]
}

export async function claimJobs(
  database: Database,
  { pool, worker, slots, since, unknownKinds }: ClaimRequest,
): Promise<Claim[]> {
  const rows = await database.send<ClaimRow>(database.hot, claimStatement, [pool, worker, slots, since, unknownKinds])
  return rows.map(toClaim).toSorted((a, b) => a.rank - b.rank || a.id - b.id)
}

/** Jobs of the lanes that waited longest, each with its permits reserved; up to `ahead` more of lanes that have neither budget nor cap. */
export async function claimLaned(
  database: Database,
  { pool, worker, slots, ahead = 0, unknownKinds }: Omit<ClaimRequest, 'since'> & { ahead?: number },
): Promise<LanedClaims> {
  const values = [pool, worker, slots, ahead, lanesMax, unknownKinds]
  const rows = await database.send<LanedRow>(database.hot, lanedStatement, values)
  const claims = rows.filter(([id]) => id !== null).map((row) => toClaim(row as unknown as ClaimRow)) // what stands behind its columns is not read
  return {
    claims: claims.toSorted((a, b) => a.rank - b.rank || a.id - b.id),
    again: rows[0]?.at(-2) === true,
    moved: rows[0]?.at(-1) === true,
  }
}

/** One job that was held by processes that died, for a worker that runs nothing else. */
export async function claimSuspect(database: Database, worker: number, pools: string[]): Promise<Claim | undefined> {
  const [row] = await database.send<ClaimRow>(database.hot, suspectStatement, [worker, pools])
  return row && toClaim(row)
}
