/**
 * Turns what a handler said or threw into the way its claim ends. Pure: values in, a verdict out.
 */

import type { Claim } from '../dispatch/claim.ts'
import type { Kind } from '../job/kind.ts'
import type { Done, Outcome } from '../job/outcome.ts'
import { delayAfter } from '../job/retry.ts'
import { sqlState } from '../postgres/transient.ts'
import { type Scrub, type StoredError, storeError } from '../support/errors.ts'

export type Verdict =
  | ({ readonly outcome: 'done' } & Omit<Done, 'type'>)
  | { readonly outcome: 'retry'; readonly delayMs: number; readonly error: StoredError | undefined }
  | { readonly outcome: 'snooze'; readonly delayMs?: number; readonly runAt?: Date }
  | { readonly outcome: 'failed'; readonly error: StoredError }
  | { readonly outcome: 'canceled'; readonly error: StoredError | undefined }
  | { readonly outcome: 'handed back'; readonly started: boolean }
  /** This process heard that it shall stop. Anybody can say so: it is canceled if the table says the same, and goes back otherwise. */
  | { readonly outcome: 'stopped'; readonly started: boolean }

/** Its handler never started, so its call was not made. */
export const handBack: Verdict = { outcome: 'handed back', started: false }
/** Its handler was under way: the permits of its lane count as spent. */
export const breakOff: Verdict = { outcome: 'handed back', started: true }
/** Told before its handler started. */
export const stoppedEarly: Verdict = { outcome: 'stopped', started: false }
/** Its handler gave up. */
export const stopped: Verdict = { outcome: 'stopped', started: true }

export function judge(claim: Claim, kind: Pick<Kind, 'retry'>, outcome: Outcome, random: number, scrub?: Scrub): Verdict {
  switch (outcome.type) {
    case 'done':
      return { outcome: 'done', write: outcome.write, next: outcome.next, publish: outcome.publish }
    case 'snooze':
      return outcome.until ? { outcome: 'snooze', runAt: outcome.until } : { outcome: 'snooze', delayMs: outcome.afterMs ?? 0 }
    case 'fail':
      return { outcome: 'failed', error: storeError(outcome.error, scrub) }
    case 'cancel':
      return { outcome: 'canceled', error: outcome.reason === undefined ? undefined : storeError(outcome.reason, scrub) }
    case 'retry': {
      const error = outcome.error === undefined ? undefined : storeError(outcome.error, scrub)
      if (claim.attempt >= claim.maxAttempts)
        return { outcome: 'failed', error: error ?? { message: `gave up after ${claim.attempt} attempts` } }
      return { outcome: 'retry', delayMs: outcome.afterMs ?? delayAfter(kind.retry, claim.attempt, random), error }
    }
  }
}

/** What a job caused could not be stored. It is tried again like any failed attempt, but a chain of events does not get shorter by that. */
export function judgeFailedWrite(
  claim: Claim,
  kind: Pick<Kind, 'retry'>,
  error: unknown,
  random: number,
  scrub?: Scrub,
): Verdict {
  const hopeless = ['EVENT_CYCLE', 'SL006'].includes(sqlState(error) ?? '')
  return judge(claim, kind, { type: hopeless ? 'fail' : 'retry', error }, random, scrub)
}
