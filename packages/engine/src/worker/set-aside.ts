/**
 * Set aside: ends of jobs whose lane, or whose lane's owner, is in somebody's hand, as in a transaction that a person keeps open. A settle
 * gives up on a lane after half a second (`sluice.leave_lanes`); from then on what ended in it waits here and holds up no others. When the lane is free again its ends
 * go the usual way; when the lease is over, or the process has left, they are given up, and whoever rescues their jobs runs them again.
 */
import { type Clock, pause } from '../support/clock.ts'
import type { Ended } from './ended.ts'

export interface SetAsideOptions {
  readonly clock: Clock
  /** Those of the lanes for which a settle would have to wait now. */
  readonly findBusy: (lanes: readonly string[]) => Promise<readonly string[]>
  readonly giveBack: (ended: Ended) => void
  /** Nothing is worth waiting for any more. */
  readonly isOver: () => boolean
  readonly giveUp: (ends: readonly Ended[]) => void
}

const waitMsMin = 50
const waitMsMax = 1_000

export class SetAside {
  readonly #options: SetAsideOptions
  readonly #lanes = new Map<string, Ended[]>()
  #watching = false

  constructor(options: SetAsideOptions) {
    this.#options = options
  }

  get size(): number {
    let size = 0
    for (const ends of this.#lanes.values()) size += ends.length
    return size
  }

  /** No lane is here, as mostly. */
  get idle(): boolean {
    return this.#lanes.size === 0
  }

  /** True: it is here now, because its lane is. */
  takes(ended: Ended): boolean {
    const ends = ended.claim.lane === undefined ? undefined : this.#lanes.get(ended.claim.lane)
    ends?.push(ended)
    return ends !== undefined
  }

  put(lane: string): void {
    if (!this.#lanes.has(lane)) this.#lanes.set(lane, [])
    if (!this.#watching) void this.#watch()
  }

  async #watch(): Promise<void> {
    this.#watching = true
    for (let waitMs = waitMsMin; this.#lanes.size > 0; waitMs = Math.min(waitMs * 2, waitMsMax)) {
      await pause(this.#options.clock, waitMs)
      const lanes = [...this.#lanes.keys()]
      const busy = await this.#options.findBusy(lanes)
      const isOver = this.#options.isOver()
      for (const lane of lanes) {
        if (busy.includes(lane) && !isOver) continue
        const ends = this.#lanes.get(lane) ?? []
        this.#lanes.delete(lane)
        if (isOver) this.#options.giveUp(ends)
        else for (const ended of ends) this.#options.giveBack(ended)
      }
    }
    this.#watching = false
  }
}
