/**
 * What the Redis dispatcher asks PostgreSQL (migrations/0018): claims by id, what there is to offer, and copies of lanes.
 */
import type { Database, Statement } from '../../postgres/database.ts'
import { type Claim, type ClaimRow, claimColumns, toClaim } from '../claim.ts'

/** Why a job of that id may not start now; migrations/0018 explains each. */
export type Answer = 'gone' | 'running' | 'paused' | 'early' | 'suspect' | 'unknown' | 'owner' | 'lane' | 'busy'

export interface Refusal {
  readonly id: number
  readonly answer: Answer
  readonly waitMs: number | undefined
}

export interface ClaimedIds {
  readonly claims: Claim[]
  readonly refused: readonly Refusal[]
}

const claimStatement: Statement = {
  name: 'sluice_claim_ids',
  text: `select answer, wait_ms, ${claimColumns}, lane from sluice.claim_ids($1, $2, $3::bigint[], $4)`,
}

export async function claimIds(
  database: Database,
  { pool, worker, ids, unknownKinds }: { pool: string; worker: number; ids: readonly number[]; unknownKinds: readonly string[] },
): Promise<ClaimedIds> {
  const rows = await database.send<[Answer | null, number | null, ...ClaimRow]>(database.hot, claimStatement, [
    pool,
    worker,
    ids,
    unknownKinds,
  ])
  const claims: Claim[] = []
  const refused: Refusal[] = []
  for (const [answer, waitMs, ...row] of rows)
    if (answer === null) claims.push(toClaim(row))
    else refused.push({ id: row[0], answer, waitMs: waitMs ?? undefined })
  return { claims: claims.toSorted((a, b) => a.rank - b.rank || a.id - b.id), refused }
}

export interface Offered {
  readonly id: number
  readonly kind: string
  readonly pool: string
  readonly lane: string
  readonly priority: number
  readonly rank: number
  readonly cost: number
  readonly dueMs: number | undefined
}

type OfferedRow = [
  id: number,
  kind: string,
  pool: string,
  lane: string,
  priority: number,
  rank: number,
  cost: number,
  dueMs: number | null,
]
const columns = 'id, kind, pool, lane, priority, rank, cost, due_ms'

export async function offersOf(database: Database, ids: readonly number[]): Promise<Offered[]> {
  const statement = { name: 'sluice_offers_of', text: `select ${columns} from sluice.offers_of($1::bigint[])` }
  return (await database.send<OfferedRow>(database.hot, statement, [ids])).map(toOffered)
}

/** The front of the pool: of its open lane, and of its lanes that are open. */
export async function offersIn(
  database: Database,
  pool: string,
  { batch, lanesMax, laneBatch }: { batch: number; lanesMax: number; laneBatch: number },
): Promise<Offered[]> {
  const statement = { name: 'sluice_offers_in', text: `select ${columns} from sluice.offers_in($1, $2, $3, $4)` }
  return (await database.send<OfferedRow>(database.hot, statement, [pool, batch, lanesMax, laneBatch])).map(toOffered)
}

export async function offersInLanes(
  database: Database,
  pool: string,
  lanes: readonly string[],
  laneBatch: number,
): Promise<Offered[]> {
  const statement = { name: 'sluice_offers_in_lanes', text: `select ${columns} from sluice.offers_in_lanes($1, $2, $3)` }
  return (await database.send<OfferedRow>(database.hot, statement, [pool, lanes, laneBatch])).map(toOffered)
}

function toOffered([id, kind, pool, lane, priority, rank, cost, dueMs]: OfferedRow): Offered {
  return { id, kind, pool, lane, priority, rank, cost, dueMs: dueMs ?? undefined }
}

type CopyRow = [
  ...[key: string, metered: boolean, remaining: number | null, resetMs: number | null, floor: number, cap: number | null],
  ...[closedMs: number | null, inFlight: number, inFlightCost: number, weight: number],
]

/** In the order in which copy-lanes.lua takes them, without its last column. */
export async function laneCopies(database: Database, lanes: readonly string[]): Promise<(readonly (string | number)[])[]> {
  const statement = {
    name: 'sluice_lane_copies',
    text: `select key, metered, remaining, reset_ms, budget_floor, cap, closed_ms, in_flight, in_flight_cost, weight from sluice.lane_copies($1)`,
  }
  const rows = await database.send<CopyRow>(database.hot, statement, [lanes])
  return rows.map(([key, metered, remaining, resetMs, floor, cap, closedMs, inFlight, inFlightCost, weight]) => [
    key,
    metered ? 1 : 0,
    remaining ?? '',
    resetMs ?? '',
    floor,
    cap ?? '',
    closedMs === null ? '' : Number.isFinite(closedMs) ? closedMs : 'inf',
    inFlight,
    inFlightCost,
    weight,
  ])
}

/** What became of jobs whose entries nobody touched for long. */
export async function statesOf(database: Database, ids: readonly number[]): Promise<Map<number, string>> {
  const statement = {
    name: 'sluice_states_of',
    text: 'select id, sluice.state_of(shelf, worker)::text from sluice.job where id = any($1::bigint[])',
  }
  return new Map(await database.send<[number, string]>(database.hot, statement, [ids]))
}

export async function readInstallation(database: Database): Promise<string> {
  const statement = {
    name: 'sluice_installation',
    text: 'select left(md5(current_database() || installation), 8) from sluice.setting',
  }
  const [row] = await database.send<[string]>(database.hot, statement, [])
  return row?.[0] ?? ''
}
