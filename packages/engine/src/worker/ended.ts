/**
 * An end of a job as its handler left it: what the settler gets, and what it has to know of it to settle it with others.
 */
import type { Claim } from '../dispatch/claim.ts'
import type { Done } from '../job/outcome.ts'
import type { BudgetReport } from '../lane/budget-report.ts'
import { sqlState } from '../postgres/transient.ts'
import { SluiceError } from '../support/errors.ts'
import type { Verdict } from './judge.ts'

export interface Ended {
  readonly claim: Claim
  readonly verdict: Verdict
  /** What the server that was called said about the lane's budget. */
  readonly said?: BudgetReport | undefined
  /** How long its handler ran; only if somebody observes. */
  readonly ranMs?: number | undefined
  /** W3C traceparent of its span; without one, what comes of the job carries on the job's own. */
  readonly trace?: string | undefined
}

export interface Writing extends Ended {
  readonly verdict: Extract<Verdict, { outcome: 'done' }> & { readonly write: NonNullable<Done['write']> }
}

export function hasWrite(ended: Ended): ended is Writing {
  return ended.verdict.outcome === 'done' && ended.verdict.write !== undefined
}

/** It waited for a lane in vain, and `sluice.leave_lanes` gave up. What a write of a handler waits for in vain is its own affair. */
export function isHeldUp(error: unknown, group: readonly Ended[]): boolean {
  if (sqlState(error) !== '55P03' || group.every(({ claim }) => claim.lane === undefined)) return false
  return whereOf(error).includes('sluice.leave_lanes')
}

/** It was raised by a statement that ends claims, and not by a handler's own. */
export function isOfSettle(error: unknown): boolean {
  return /sluice\.(?:hold_claim|settle_done)\(/.test(whereOf(error))
}

/** Something that it needs is in somebody's open transaction: the row of the job, of its follower or of its run, or the key of a child. */
export class WaitedInVain extends Error {}

export function explainWait(error: unknown, group: readonly Ended[]): unknown {
  if (sqlState(error) !== '55P03' || isHeldUp(error, group)) return error
  return new WaitedInVain('a settle waited in vain', { cause: error })
}

/** In which functions of the database it was raised. */
function whereOf(error: unknown): string {
  if (error instanceof SluiceError) return whereOf(error.cause)
  return error instanceof Error && 'where' in error && typeof error.where === 'string' ? error.where : ''
}

/** Its write did nothing for a whole lease, and the server ended it. It would do so again. */
export function isIdleWrite(error: unknown, group: readonly Ended[]): boolean {
  return sqlState(error) === '25P03' && group.some(hasWrite)
}

/** Jobs to come or events to publish. */
export function hasConsequences({ verdict }: Ended): boolean {
  return verdict.outcome === 'done' && (verdict.next !== undefined || verdict.publish !== undefined)
}

/**
 * A claim whose commit a crash of the server took back may still wait here when this process claims the same job anew. The database answers by
 * job, so the two must not travel together: the older one is void.
 */
export function withoutVoid(group: readonly Ended[]): Ended[] {
  const fences = new Map<number, number>()
  for (const { claim } of group) fences.set(claim.id, Math.max(claim.fence, fences.get(claim.id) ?? 0))
  return fences.size === group.length ? [...group] : group.filter(({ claim }) => fences.get(claim.id) === claim.fence)
}
