/**
 * A claim: a worker's hold on a job, identified by job id and fence.
 *
 * The statement is one call of `sluice.claim` (migrations/0006): 10 µs a job at five hundred a call, measured with keys, checks and fences on.
 */
import type { Database, Statement } from '../postgres/database.ts'

export interface Claim {
  readonly id: number
  readonly fence: number
  readonly kind: string
  /** JSON text; parsed by the executor, so that a bad row fails its own job and not the batch. */
  readonly payload: string
  readonly attempt: number
  readonly maxAttempts: number
  readonly crashes: number
  readonly rank: number
  readonly priority: number
  readonly owner: string | undefined
  readonly root: number | undefined
  readonly createdAtMs: number
  readonly run: number | undefined
  /** The event that brought it about. */
  readonly event: number | undefined
  /** Nothing for the open lane. */
  readonly lane: string | undefined
}

/** What came of a look at the lanes. */
export interface LanedClaims {
  readonly claims: Claim[]
  /** A lane was passed over or had more: look again. */
  readonly again: boolean
  /** Closed or empty lanes were put out of the way: the next look sees others. */
  readonly moved: boolean
}

const columns = 'id, fence, kind, payload, attempt, max_attempts, crashes, rank, owner, root, created_ms, run, event, priority'

const claimStatement: Statement = { name: 'sluice_claim', text: `select ${columns} from sluice.claim($1, $2, $3, $4, $5)` }

const lanedStatement: Statement = {
  name: 'sluice_claim_laned',
  text: `select ${columns}, lane, again, moved from sluice.claim_laned($1, $2, $3, $4, $5, $6)`,
}

const suspectStatement: Statement = {
  name: 'sluice_claim_suspect',
  text: `select ${columns}, lane from sluice.claim_suspect($1, $2, $3)`,
}

type ClaimRow = [
  ...[number, number, string, string, number, number, number, number, string | null, number | null, number],
  ...[run: number | null, event: number | null, priority: number, lane?: string],
]
type LanedRow = [...Required<ClaimRow>, again: boolean, moved: boolean]
/** More lanes a claim would share its slots too thinly; fewer would let a stranger wait. */
const lanesMax = 16

export const lowestRank = Number.MIN_SAFE_INTEGER
/** After so many dead processes a job runs alone; migrations/0006 knows the same number. */
export const suspectCrashes = 2

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
  const claims = rows.filter(([id]) => id !== null).map((row) => toClaim(row.slice(0, -2) as unknown as ClaimRow))
  return {
    claims: claims.toSorted((a, b) => a.rank - b.rank || a.id - b.id),
    again: rows[0]?.at(-2) === true,
    moved: rows[0]?.at(-1) === true,
  }
}

/** One job that was held by processes that died, for a worker that runs nothing else. */
export async function claimSuspect(
  database: Database,
  worker: number,
  pools: string[],
  unknownKinds: string[],
): Promise<Claim | undefined> {
  const [row] = await database.send<ClaimRow>(database.hot, suspectStatement, [worker, pools, unknownKinds])
  return row && toClaim(row)
}

function toClaim(row: ClaimRow): Claim {
  const [id, fence, kind, payload, attempt, maxAttempts, crashes, rank, owner, root, createdAtMs, run, event, priority, lane] =
    row
  return {
    id,
    fence,
    kind,
    payload,
    attempt,
    maxAttempts,
    crashes,
    rank,
    priority,
    owner: owner ?? undefined,
    root: root ?? undefined,
    createdAtMs,
    run: run ?? undefined,
    event: event ?? undefined,
    lane: lane || undefined,
  }
}
