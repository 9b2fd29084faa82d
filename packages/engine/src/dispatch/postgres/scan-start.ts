/**
 * Where a claim of the open lane starts to look. Under a backlog a little before the last rank it got, for what runs and what is dead lies
 * below; from the very start now and then, so that a more urgent job waits a second at most.
 */
import type { Clock } from '../../support/clock.ts'
import type { Claim } from '../claim.ts'
import { lowestRank } from './claim.ts'

const slackMs = 50
const fullLookEveryMs = 1_000
const fullLookShare = 50

export interface Look {
  readonly since: number
  /** From the very start. */
  readonly full: boolean
  readonly sentMs: number
}

export class ScanStart {
  readonly #clock: Clock
  #since = lowestRank
  #nextFullLookMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  next(): Look {
    const sentMs = this.#clock.monotonic()
    const full = sentMs >= this.#nextFullLookMs
    return { since: full ? lowestRank : this.#since, full, sentMs }
  }

  remember({ full, sentMs }: Look, last: Claim | undefined, backlog: boolean): void {
    if (!backlog || last === undefined) {
      this.#since = lowestRank
      this.#nextFullLookMs = 0
      return
    }
    // Only a look from the start knows where the living begin.
    if (full) {
      const tookMs = this.#clock.monotonic() - sentMs
      this.#nextFullLookMs = sentMs + Math.max(fullLookEveryMs, tookMs * fullLookShare)
    }
    this.#since = last.rank - slackMs
  }
}
