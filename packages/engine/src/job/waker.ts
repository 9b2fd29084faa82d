/**
 * Waker: decides when an enqueue carries its own wake-up and when a later one speaks for many.
 *
 * NOTIFY takes an instance-wide lock at commit (64 enqueuers: 19 k/s without, 3.5 k/s with one each), so the first enqueue after a quiet
 * moment notifies inside its statement and those of the next few milliseconds share one that follows them. Workers of this process are
 * told directly.
 */
import type { Database } from '../postgres/database.ts'
import type { Clock } from '../support/clock.ts'
import type { EncodedRequest } from './request.ts'

const quietMs = 5

export class Waker {
  readonly #database: Database
  readonly #clock: Clock
  readonly #poolOf: (request: EncodedRequest) => string | undefined
  readonly #pools = new Set<string>()
  #lastMs = Number.NEGATIVE_INFINITY
  #due = false
  #armed = false

  constructor(database: Database, clock: Clock, poolOf: (request: EncodedRequest) => string | undefined) {
    this.#database = database
    this.#clock = clock
    this.#poolOf = poolOf
  }

  /** True when this enqueue should notify inside its own statement. */
  leads(): boolean {
    const now = this.#clock.monotonic()
    if (now - this.#lastMs < quietMs) return false
    this.#lastMs = now
    return true
  }

  /** These were enqueued silently: one wake-up soon speaks for them. */
  follow(requests: readonly EncodedRequest[]): void {
    for (const request of requests) {
      if (request.delayed) this.#due = true
      else this.#pools.add(this.#poolOf(request) ?? '*')
    }
    if (this.#armed) return
    this.#armed = true
    this.#clock.after(quietMs, () => void this.#notify())
  }

  async #notify(): Promise<void> {
    this.#armed = false
    this.#lastMs = this.#clock.monotonic()
    const messages = [...this.#pools].map((pool) => `ready:${pool}`)
    if (this.#due) messages.push('due:0') // which one is first, the leader asks for itself
    this.#pools.clear()
    this.#due = false
    // The jobs are stored; a wake-up that fails here is made good by the next heartbeat.
    await this.#database.pool
      .query(
        `select set_config('synchronous_commit', 'off', true), pg_notify('sluice', message) from unnest($1::text[]) as message`,
        [messages],
      )
      .catch(() => {})
  }
}
