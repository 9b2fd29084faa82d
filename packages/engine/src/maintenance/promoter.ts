/**
 * Promoter: makes jobs ready when their time has come.
 *
 * It sleeps until the next due time that the database named and is woken when something earlier is enqueued, so delayed jobs start at their
 * time and an idle engine asks nothing.
 */
import type { Database, Statement } from '../postgres/database.ts'
import type { Clock, Timer } from '../support/clock.ts'
import type { Log } from '../support/log.ts'
import type { Witness } from '../support/witness.ts'

export interface PromoterOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly witness?: Witness
  readonly term: () => number | undefined
  readonly onReady: (topics: readonly string[]) => void
}

const statement: Statement = { name: 'sluice_promote', text: 'select moved, topics, due_ms from sluice.promote($1, $2)' }
const batchSize = 500
const retryMs = 1_000

export class Promoter {
  readonly #options: PromoterOptions
  #timer: Timer | undefined
  #dueAtMs = Number.POSITIVE_INFINITY
  #asleepMs: number | undefined
  #working = false
  #again = false

  constructor(options: PromoterOptions) {
    this.#options = options
  }

  /**
   * The next job falls due in this many ms, as the database said. A timer that is set for earlier stays: whoever set it may have come
   * after the database looked. If there was nothing to it, one look too many finds nothing.
   */
  sleep(dueMs: number | undefined): void {
    const { clock, term } = this.#options
    // Whoever no longer leads waits for nothing: a timer would keep a process alive that has left.
    if (dueMs === undefined || term() === undefined) return
    // Rounded up: a timer that fires a moment too soon finds nothing.
    const waitMs = Math.max(0, Math.ceil(dueMs))
    const dueAtMs = clock.monotonic() + waitMs
    if (dueAtMs >= this.#dueAtMs) return
    this.#timer?.cancel()
    this.#dueAtMs = dueAtMs
    this.#asleepMs ??= clock.monotonic()
    this.#timer = clock.after(waitMs, () => void this.runOnce())
  }

  /** Somebody enqueued a job that falls due in this many ms; negative or unknown means: look. */
  hear(dueMs: number): void {
    if (dueMs > 0) this.sleep(dueMs)
    else void this.runOnce()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#dueAtMs = Number.POSITIVE_INFINITY
  }

  async runOnce(): Promise<number> {
    if (this.#working) {
      this.#again = true
      return 0
    }
    this.#working = true
    this.#awake()
    let total = 0
    try {
      const { database, term, onReady } = this.#options
      let moved = 0
      do {
        this.#again = false
        this.stop()
        const current = term()
        if (current === undefined) return total
        const [row] = await database.send<[number, string[] | null, number | null]>(database.hot, statement, [current, batchSize])
        moved = row?.[0] ?? 0
        if (row?.[1]) onReady(row[1])
        this.sleep(row?.[2] ?? undefined)
        if (moved > 0) this.#options.witness?.tell({ type: 'promoter.promoted', jobs: moved })
        total += moved
      } while (moved === batchSize || this.#again)
    } catch (error) {
      this.#options.log.warn('promote failed', { reason: String(error) })
      this.sleep(retryMs)
    } finally {
      this.#working = false
    }
    return total
  }

  #awake(): void {
    if (this.#asleepMs === undefined) return
    const ms = Math.round(this.#options.clock.monotonic() - this.#asleepMs)
    this.#asleepMs = undefined
    this.#options.witness?.tell({ type: 'promoter.slept', ms })
  }
}
