/**
 * Rescuer: jobs of processes that are gone go back to work.
 *
 * It wakes when the earliest lease of another process runs out. The statement raises each fence, so the old claim is void at once; a job
 * that was held by too many processes that died is failed as poison (docs/job-lifecycle.md, "Poison").
 */
import { withDays } from '../job/missing-day.ts'
import type { Database, Statement } from '../postgres/database.ts'
import type { Clock, Timer } from '../support/clock.ts'
import type { Log } from '../support/log.ts'
import type { Witness } from '../support/witness.ts'

export interface RescuerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly witness?: Witness
  readonly crashesMax: number
  readonly term: () => number | undefined
  readonly onReady: (topics: readonly string[]) => void
  /** After a look, the next beat tells when to look again. */
  readonly onLooked: () => void
}

export interface Rescue {
  readonly rescued: number
  readonly failed: number
}

const statement: Statement = {
  name: 'sluice_rescue',
  text: 'select rescued, failed, jobs, dead, topics from sluice.rescue($1, $2, $3)',
}
type RescueRow = [rescued: number, failed: number, jobs: number[] | null, dead: string[] | null, topics: string[] | null]
const none: Rescue = { rescued: 0, failed: 0 }
/** Something of a dead process was locked a moment ago. To look is to walk through the queue, so whoever keeps it locked is looked at less and less often. */
const [againMsMin, againMsMax] = [250, 4_000]
/** A lease is over a moment after it ran out: the owner's own renewal may be on its way. */
const slackMs = 20
/** To look for jobs whose process left no row is to walk through the whole queue, which is not for the rush after a start. */
const sweepAfterMs = 5_000
/** When the database was away, leases ran out of processes that live. They are back within this time, or they are not. */
const holdOffMs = 3_000

export class Rescuer {
  readonly #options: RescuerOptions
  #timer: Timer | undefined
  #sweep: Timer | undefined
  #notBeforeMs = Number.NEGATIVE_INFINITY
  #againMs = againMsMin
  #waitsAgain = false
  #working: Promise<Rescue> | undefined

  constructor(options: RescuerOptions) {
    this.#options = options
  }

  sleep(leaseMs: number | undefined): void {
    const isOver = leaseMs !== undefined && leaseMs <= 0
    if (isOver && this.#waitsAgain) return // beats tell it anew, and would put it off
    this.#timer?.cancel()
    this.#timer = undefined
    this.#waitsAgain = isOver
    if (leaseMs === undefined) return
    const waitMs = isOver ? this.#againMs : leaseMs + slackMs
    this.#againMs = isOver ? Math.min(this.#againMs * 2, againMsMax) : againMsMin
    this.#timer = this.#options.clock.after(waitMs, () => {
      this.#waitsAgain = false
      void this.runOnce().then(this.#options.onLooked)
    })
  }

  /** Nobody is declared dead for a moment. */
  holdOff(): void {
    this.#notBeforeMs = this.#options.clock.monotonic() + holdOffMs
  }

  /** Whoever takes office does it once. */
  sweepSoon(): void {
    this.#sweep?.cancel()
    this.#sweep = this.#options.clock.after(sweepAfterMs, () => void this.#sweepNow())
  }

  stop(): void {
    this.#timer?.cancel()
    this.#waitsAgain = false
    this.#sweep?.cancel()
  }

  /** `sweep` also looks for jobs whose process left no row. */
  runOnce({ sweep = false } = {}): Promise<Rescue> {
    this.#working ??= this.#run(sweep).finally(() => {
      this.#working = undefined
    })
    return this.#working
  }

  /** Not shared with a look that is under way and does not sweep. */
  async #sweepNow(): Promise<void> {
    while (this.#working) await this.#working
    await this.runOnce({ sweep: true })
  }

  async #run(sweep: boolean): Promise<Rescue> {
    const { database, log, witness, term, crashesMax, onReady } = this.#options
    try {
      const current = term()
      if (current === undefined) return none
      const leftMs = this.#notBeforeMs - this.#options.clock.monotonic()
      if (leftMs > 0) {
        this.sleep(leftMs)
        return none
      }
      const [row] = await withDays(database, () =>
        database.send<RescueRow>(database.hot, statement, [current, crashesMax, sweep]),
      )
      const [rescued = 0, failed = 0, jobs, dead, pools] = row ?? []
      if (rescued + failed > 0) witness?.tell({ type: 'job.rescued', rescued, failed, jobs: jobs ?? [], workers: dead ?? [] })
      else if (dead) log.info('process lost', { workers: dead })
      if (pools) onReady(pools)
      return { rescued, failed }
    } catch (error) {
      log.warn('rescue failed', { reason: String(error) })
      return none
    }
  }
}
