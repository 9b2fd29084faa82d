/**
 * Tells how claims ended, after the database has agreed, and what their servers said on the way.
 */
import type { EndedOutcome } from '../support/fact.ts'
import type { Witness } from '../support/witness.ts'
import type { Ended } from './ended.ts'
import type { Verdict } from './judge.ts'

export function tellEnds({ tell, jobs }: Witness, group: readonly Ended[], stale: readonly number[]): void {
  for (const { claim, verdict, said, ranMs, trace = claim.trace } of group) {
    if (said?.holdUntil && claim.lane !== undefined)
      tell({ type: 'lane.held', lane: claim.lane, until: said.holdUntil, reason: 'server', job: claim.id })
    const outcome = stale.length > 0 && stale.includes(claim.id) ? 'stale' : named(verdict.outcome)
    const hears = outcome === 'failed' ? tell : jobs
    hears?.({
      type: 'job.ended',
      job: claim.id,
      kind: claim.kind,
      attempt: claim.attempt,
      outcome,
      ranMs,
      run: claim.run,
      trace: trace?.split('-')[1],
      error: 'error' in verdict && verdict.error ? brief(verdict.error) : undefined,
    })
  }
}

/** Who was told to stop was canceled: whoever told it had it written down first. */
function named(outcome: Verdict['outcome']): EndedOutcome {
  return outcome === 'stopped' ? 'canceled' : outcome
}

/** Without its stack, which is stored with the attempt. */
function brief({ code, message }: { code?: string; message: string }): { code?: string; message: string } {
  return code === undefined ? { message } : { code, message }
}
