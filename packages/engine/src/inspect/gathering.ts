/**
 * Gathering: many changes told as few. The first after a quiet moment goes at once, those that follow go together, four times a second at
 * most. Nothing is sent while nothing happens: no timer runs then.
 */
import type { Clock, Timer } from '../support/clock.ts'
import type { Change, Topic } from './change.ts'

const gapMs = 250
/** Rows that are told by their ids; those beyond are told as "more". */
const idsMax = 100

export class Gathering {
  readonly #clock: Clock
  readonly #tell: (changes: Change[]) => void
  readonly #gathered = new Map<Topic, { readonly ids: Set<number>; more: boolean }>()
  #lastMs = Number.NEGATIVE_INFINITY
  #timer: Timer | undefined

  constructor(clock: Clock, tell: (changes: Change[]) => void) {
    this.#clock = clock
    this.#tell = tell
  }

  add({ topic, ids = [], more }: Change): void {
    const known = this.#gathered.get(topic) ?? { ids: new Set(), more: false }
    this.#gathered.set(topic, known)
    known.more ||= more
    for (const id of ids)
      if (known.ids.size < idsMax) known.ids.add(id)
      else known.more ||= !known.ids.has(id)
    this.#timer ??= this.#clock.after(Math.max(0, this.#lastMs + gapMs - this.#clock.monotonic()), () => this.flush())
  }

  flush(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#gathered.size === 0) return
    this.#lastMs = this.#clock.monotonic()
    const changes = [...this.#gathered].map(
      ([topic, { ids, more }]): Change => (ids.size > 0 ? { topic, ids: [...ids], more } : { topic, more }),
    )
    this.#gathered.clear()
    this.#tell(changes)
  }

  drop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#gathered.clear()
  }
}
