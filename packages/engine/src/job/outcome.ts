/**
 * How an attempt ends, as a value the handler returns. Throwing means retry.
 */
import { type Duration, toMs } from '../support/duration.ts'
import type { TransactionClient } from './context.ts'
import type { JobRequest } from './request.ts'

export interface Done {
  readonly type: 'done'
  /** Runs inside the transaction that ends the job. What it writes is there exactly once, or not at all. */
  readonly write?: (tx: TransactionClient) => Promise<unknown>
  /** Jobs that come next: they exist if and only if this job succeeded. */
  readonly next?: readonly JobRequest[]
}

export type Outcome =
  | Done
  | { readonly type: 'retry'; readonly afterMs?: number; readonly error?: unknown }
  | { readonly type: 'snooze'; readonly afterMs?: number; readonly until?: Date }
  | { readonly type: 'fail'; readonly error: unknown }
  | { readonly type: 'cancel'; readonly reason?: string }

/** Finished. Say what to write and which jobs come next; all of it commits together. */
export function done(
  consequence: { write?: Done['write']; next?: readonly JobRequest[] | false | null | undefined } = {},
): Outcome {
  const { write, next } = consequence
  return { type: 'done', ...(write ? { write } : {}), ...(next && next.length > 0 ? { next } : {}) }
}

/** Try again, after the kind's own delay or after this one. Counts as an attempt. */
export function retry(options: { after?: Duration; error?: unknown } = {}): Outcome {
  return {
    type: 'retry',
    ...(options.after === undefined ? {} : { afterMs: toMs(options.after, 'after') }),
    ...(options.error === undefined ? {} : { error: options.error }),
  }
}

/** Not now: come back later, and do not count this as an attempt. */
export function snooze(when: Duration | Date): Outcome {
  return when instanceof Date ? { type: 'snooze', until: when } : { type: 'snooze', afterMs: toMs(when, 'snooze') }
}

/** Trying again would not help. The job stays visible as failed. */
export function fail(error: unknown): Outcome {
  return { type: 'fail', error }
}

/** No longer wanted. */
export function cancel(reason?: string): Outcome {
  return { type: 'cancel', ...(reason === undefined ? {} : { reason }) }
}

const outcomeTypes = new Set(['done', 'retry', 'snooze', 'fail', 'cancel'])

export function isOutcome(value: unknown): value is Outcome {
  return typeof value === 'object' && value !== null && 'type' in value && outcomeTypes.has(value.type as string)
}
