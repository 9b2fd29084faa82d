/**
 * Leader: holds the term and runs the duties that one process does for all: promote, rescue, park, prune.
 *
 * The term is won and renewed by the heartbeat's statement and trusted by the monotonic clock only as long as that lease. Every duty's
 * statement carries the term and the database checks it, so a leader that slept and wakes changes nothing.
 */
import type { Database } from '../postgres/database.ts'
import { readRunEnd } from '../run/run-end.ts'
import type { Clock } from '../support/clock.ts'
import type { Log } from '../support/log.ts'
import type { Service } from '../support/service.ts'
import type { Witness } from '../support/witness.ts'
import { Parker } from './parker.ts'
import { Promoter } from './promoter.ts'
import { Pruner } from './pruner.ts'
import { Rescuer } from './rescuer.ts'

export interface LeaderOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly witness: Witness
  readonly keepDays: number
  readonly crashesMax: number
  readonly trusted: () => boolean
  readonly onReady: (topics: readonly string[]) => void
  readonly beatNow: () => void
}

/** What the heartbeat reports to a leader. */
export interface LeaderNews {
  readonly term: number | undefined
  readonly nowMs: number
  readonly dueMs: number | undefined
  readonly nextLeaseMs: number | undefined
  readonly chores: boolean
  /** This process could not reach the database a moment ago, so others may not have either. */
  readonly afterTrouble: boolean
}

export class Leader implements Service {
  readonly promoter: Promoter
  readonly rescuer: Rescuer
  readonly parker: Parker
  readonly pruner: Pruner
  readonly #options: LeaderOptions
  #term: number | undefined
  #aheadMs = 0
  #stopped = false

  constructor(options: LeaderOptions) {
    const { database, clock, log, witness, keepDays, crashesMax, onReady, beatNow } = options
    const term = (): number | undefined => this.term
    this.#options = options
    this.promoter = new Promoter({ database, clock, log, witness, term, onReady })
    this.rescuer = new Rescuer({ database, clock, log, witness, term, crashesMax, onReady, onLooked: beatNow })
    this.parker = new Parker(database, log, term)
    this.pruner = new Pruner({ database, clock, log, keepDays, term })
  }

  get term(): number | undefined {
    return this.#options.trusted() ? this.#term : undefined
  }

  start(): void {
    this.#stopped = false
  }

  stop(): void {
    this.#stopped = true
    if (this.#term !== undefined) this.#options.witness.tell({ type: 'leader.changed', leads: false, term: this.#term })
    this.#resign()
  }

  #resign(): void {
    this.#term = undefined
    this.promoter.stop()
    this.rescuer.stop()
    this.pruner.stop()
  }

  onBeat(news: LeaderNews): void {
    const { witness, clock } = this.#options
    if (news.afterTrouble) this.rescuer.holdOff()
    if (news.term === undefined || this.#stopped) {
      if (this.#term !== undefined) {
        witness.tell({ type: 'leader.changed', leads: false, term: this.#term })
        this.#resign()
      }
      return
    }
    const fresh = news.term !== this.#term
    this.#term = news.term
    this.#aheadMs = news.nowMs - clock.now()
    if (fresh) {
      witness.tell({ type: 'leader.changed', leads: true, term: news.term })
      this.pruner.start()
      this.rescuer.sweepSoon()
    }
    this.promoter.sleep(news.dueMs)
    this.rescuer.sleep(news.nextLeaseMs)
    // Not awaited: the heartbeat that brought the news must not wait for a million jobs to be parked.
    if (news.chores || fresh) {
      void this.rescuer.runOnce()
      void this.parker.runOnce()
    }
  }

  /** A wake-up that says when something falls due, in the database's own time. */
  hearDue(atMs: number): void {
    if (this.term !== undefined) this.promoter.hear(atMs - this.#aheadMs - this.#options.clock.now())
  }

  /** A run has ended somewhere; one process tells it for all. */
  hearRunEnd(message: string): void {
    const ended = this.term === undefined ? undefined : readRunEnd(message)
    if (ended) this.#options.witness.tell(ended)
  }
}
