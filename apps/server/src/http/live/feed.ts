/**
 * What happened lately, for those who look live: one watch on the engine however many look, and a ring of the last events for those who come back.
 *
 * An id is `<epoch>-<n>`. The epoch is new whenever watching starts, so an id of another process, or of a time in which nobody watched, is known to be
 * of no use: whoever brings it is told to load everything again (`reset`), once. Watching goes on for a while after the last one left, so that a page
 * that is loaded again or a phone that changes networks misses nothing.
 */
import { randomBytes } from 'node:crypto'
import type { Change, Clock, Engine, Timer } from '@sluice/engine'

export interface LiveEvent {
  readonly id: string
  readonly change: Change
}

/** What somebody who comes (back) gets first. */
export interface Catchup {
  /** Where they are now. */
  readonly id: string
  /** They may have missed something that is not here any more. */
  readonly reset: boolean
  readonly missed: readonly LiveEvent[]
}

const lingerMs = 60_000

export class Feed {
  readonly #engine: Pick<Engine, 'watch'>
  readonly #clock: Clock
  readonly #eventsMax: number
  readonly #listeners = new Set<(event: LiveEvent) => void>()
  #ring: LiveEvent[] = []
  #epoch = ''
  #count = 0
  #stopWatching: (() => void) | undefined
  #leaving: Timer | undefined

  constructor(engine: Pick<Engine, 'watch'>, clock: Clock, eventsMax: number) {
    this.#engine = engine
    this.#clock = clock
    this.#eventsMax = eventsMax
  }

  /** Hears everything from now on, and says what was missed since `lastId`. */
  join(listener: (event: LiveEvent) => void, lastId: string | undefined): Catchup & { readonly leave: () => void } {
    this.#leaving?.cancel()
    this.#leaving = undefined
    if (!this.#stopWatching) this.#watch()
    this.#listeners.add(listener)
    return { ...this.#catchUp(lastId), leave: () => this.#leave(listener) }
  }

  stop(): void {
    this.#leaving?.cancel()
    this.#stopWatching?.()
    this.#stopWatching = undefined
    this.#listeners.clear()
  }

  #watch(): void {
    this.#epoch = randomBytes(6).toString('base64url').replaceAll('-', '_')
    this.#count = 0
    this.#ring = []
    this.#stopWatching = this.#engine.watch((change) => this.#hear(change))
  }

  #hear(change: Change): void {
    this.#count += 1
    const event = { id: `${this.#epoch}-${this.#count}`, change }
    this.#ring.push(event)
    if (this.#ring.length > this.#eventsMax) this.#ring.shift()
    for (const listener of this.#listeners) listener(event)
  }

  #catchUp(lastId: string | undefined): Catchup {
    const id = `${this.#epoch}-${this.#count}`
    if (lastId === undefined) return { id, reset: false, missed: [] }
    const [epoch, n] = lastId.split('-')
    const seen = /^\d{1,15}$/.test(n ?? '') ? Number(n) : -1
    const oldest = this.#count - this.#ring.length
    if (epoch !== this.#epoch || seen < oldest || seen > this.#count) return { id, reset: true, missed: [] }
    return { id, reset: false, missed: this.#ring.slice(seen - oldest) }
  }

  #leave(listener: (event: LiveEvent) => void): void {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
    this.#leaving = this.#clock.after(lingerMs, () => {
      this.#stopWatching?.()
      this.#stopWatching = undefined
    })
  }
}
