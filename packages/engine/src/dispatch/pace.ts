/**
 * Pace: how fast jobs end in a pool, smoothed; what to claim ahead of free slots follows from it.
 */
import type { Clock } from '../support/clock.ts'

const aheadMax = 1_000
/** Jobs that end in lockstep look fast in a shorter window. */
const measureMsMin = 20

export class Pace {
  readonly #clock: Clock
  #ended = 0
  #measuredAtMs = 0
  #perMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  count(): void {
    this.#ended++
  }

  /** How many jobs end in this time, as far as one can tell. */
  in(ms: number): number {
    return Math.min(aheadMax, Math.floor(this.#perMs * ms))
  }

  measure(): void {
    const nowMs = this.#clock.monotonic()
    const tookMs = nowMs - this.#measuredAtMs
    if (tookMs < measureMsMin) return
    this.#perMs = tookMs > 1_000 ? this.#ended / tookMs : (this.#perMs + this.#ended / tookMs) / 2
    this.#ended = 0
    this.#measuredAtMs = nowMs
  }

  /** Slow jobs took the slots: it starts from nothing. */
  forget(): void {
    this.#perMs = 0
    this.#ended = 0
  }
}
