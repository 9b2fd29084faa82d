/**
 * What a handler gets: its job, and the signal that tells it to stop.
 */
import type { QueryClient } from '../postgres/client.ts'

/** The transaction that ends the job. Do not commit or roll back: the engine does, if the fence still holds. */
export type TransactionClient = QueryClient

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
  /** Aborted when the job is canceled, runs too long, or no longer belongs to this process. */
  readonly signal: AbortSignal
  /** Runs the kind's `module` in a process of its own and gives its answer. */
  readonly compute: (input?: unknown) => Promise<unknown>
}
