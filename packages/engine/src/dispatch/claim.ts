/**
 * A claim: a worker's hold on a job, identified by job id and fence. Whichever way a job is dispatched, its claim is a row of PostgreSQL that
 * reads the same.
 */

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
  /** W3C traceparent of whoever asked for it. */
  readonly trace: string | undefined
  /** Nothing for the open lane. */
  readonly lane: string | undefined
}

export const claimColumns =
  'id, fence, kind, payload, attempt, max_attempts, crashes, rank, owner, root, created_ms, run, event, priority, trace'

export type ClaimRow = [
  ...[number, number, string, string, number, number, number, number, string | null, number | null, number],
  ...[run: number | null, event: number | null, priority: number, trace: string | null, lane?: string],
]

export function toClaim(row: ClaimRow): Claim {
  const [
    id,
    fence,
    kind,
    payload,
    attempt,
    maxAttempts,
    crashes,
    rank,
    owner,
    root,
    createdAtMs,
    run,
    event,
    priority,
    trace,
    lane,
  ] = row
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
    trace: trace ?? undefined,
    lane: lane || undefined,
  }
}
