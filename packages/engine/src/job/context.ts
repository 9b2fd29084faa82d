/**
 * What a handler gets: its job, and the signal that tells it to stop.
 */
import type { BudgetReport } from '../lane/budget-report.ts'
import type { TransactionClient } from '../postgres/client.ts'

export type { TransactionClient }

export interface JobContext<P> {
  readonly id: number
  readonly kind: string
  readonly payload: P
  readonly owner: string | undefined
  /** 1 for the first try. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly createdAt: Date
  /** Stays the same over retries: hand it to outside systems as their idempotency key. */
  readonly idempotencyKey: string
  /** What its budget is counted against; nothing for the open lane. */
  readonly lane: string | undefined
  /** The run it counts for. */
  readonly run: number | undefined
  /** The event that brought it about, itself or through its ancestors. */
  readonly event: number | undefined
  /** Tells the lane what the server said about its budget (headers of the answer). Counts when the job ends, however it ends. */
  readonly report: (said: BudgetReport) => void
  /** Writes a line to the log of this job, where people who look at it read it, while it runs and afterwards. Never throws, never waits. */
  readonly log: (message: string, fields?: Readonly<Record<string, unknown>>) => void
  /** Aborted when the job is canceled, runs too long, or no longer belongs to this process. */
  readonly signal: AbortSignal
  /** Runs the kind's `module` in a process of its own and gives its answer. */
  readonly compute: (input?: unknown) => Promise<unknown>
}
