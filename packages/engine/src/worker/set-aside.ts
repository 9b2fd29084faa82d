/**
 * Set aside: ends of jobs whose lane, or whose lane's owner, is in somebody's hand, as in a transaction that a person keeps open. A settle
 * gives up on them after half a second (`sluice.leave_lanes`); from then on they wait here, by lane, and are tried again by themselves, so that they hold
 * up no others. What ends in such a lane meanwhile comes here at once.
 */
import { type Clock, pause } from '../support/clock.ts'
import type { Ended } from './ended.ts'

export interface SetAsideOptions {
  readonly clock: Clock
  /** Tries to settle ends of one lane, and answers those that are still held up. */
  readonly attempt: (ends: readonly Ended[]) => Promise<readonly Ended[]>
  /** All of them are settled, or given up. */
  readonly onEmpty: () => void
}

const waitMsMin = 50
const waitMsMax = 1_000

export class SetAside {
  readonly #options: SetAsideOptions
  readonly #lanes = new Map<string, Ended[]>()
  #trying = false

  constructor(options: SetAsideOptions) {
    this.#options = options
  }

  get size(): number {
    let size = 0
    for (const ends of this.#lanes.values()) size += ends.length
    return size
  }

  has(lane: string | undefined): lane is string {
    return lane !== undefined && this.#lanes.has(lane)
  }

  put(lane: string, ends: readonly Ended[]): void {
    this.#lanes.set(lane, [...(this.#lanes.get(lane) ?? []), ...ends])
    if (!this.#trying) void this.#tryAgain()
  }

  async #tryAgain(): Promise<void> {
    this.#trying = true
    for (let waitMs = waitMsMin; this.#lanes.size > 0; waitMs = Math.min(waitMs * 2, waitMsMax)) {
      await pause(this.#options.clock, waitMs)
      for (const [lane, ends] of this.#lanes) {
        const left = await this.#options.attempt(ends)
        if (left.length < ends.length) waitMs = waitMsMin
        const waiting = [...left, ...(this.#lanes.get(lane)?.slice(ends.length) ?? [])] // what came meanwhile stands behind
        if (waiting.length > 0) this.#lanes.set(lane, waiting)
        else this.#lanes.delete(lane)
      }
    }
    this.#trying = false
    this.#options.onEmpty()
  }
}
