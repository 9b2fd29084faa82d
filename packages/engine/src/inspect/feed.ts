/**
 * Feed: lets people look on live, in whatever process things happen, over the one LISTEN connection that a process has anyway.
 *
 * A process in which somebody looks on says so in its worker row, and by that only as long as its lease. Every heartbeat reads whether
 * anybody does; a word on the channel makes all of them beat at once when that changes. While it is so, processes that work send what they did, gathered, in
 * one notification up to four times a second. While nobody looks on, they do not even build the facts.
 */
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import type { Clock } from '../support/clock.ts'
import type { Fact } from '../support/fact.ts'
import type { Log } from '../support/log.ts'
import { type Change, readFact, readMessage, topics, writeChanges } from './change.ts'
import { Gathering } from './gathering.ts'

export type Stop = () => void

export interface FeedOptions {
  readonly database: Executor
  readonly clock: Clock
  readonly log: Log
  /** The row of this process; 0 before it has one. */
  readonly worker: () => number
  /** Whether words on the channel arrive. */
  readonly hears: () => boolean
}

export class Feed {
  readonly #options: FeedOptions
  readonly #listeners = new Set<(change: Change) => void>()
  readonly #here: Gathering
  readonly #elsewhere: Gathering
  #watchedElsewhere = false
  /** The row that says that somebody looks on here; 0 for none. */
  #announced = 0
  #announcing: Promise<void> | undefined
  #telling: Promise<unknown> = Promise.resolve()

  constructor(options: FeedOptions) {
    this.#options = options
    this.#here = new Gathering(options.clock, (changes) => this.#deliver(changes))
    this.#elsewhere = new Gathering(options.clock, (changes) => this.#send(changes))
  }

  /** Whether facts are wanted. */
  get watching(): boolean {
    return this.#watchedElsewhere || this.#listeners.size > 0
  }

  watch(listener: (change: Change) => void): Stop {
    const own = (change: Change): void => listener(change)
    this.#listeners.add(own)
    void this.#announce()
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size === 0) this.#here.drop()
      void this.#announce()
    }
  }

  /** A word on the channel. */
  hear(message: string): void {
    if (this.#listeners.size > 0) for (const change of readMessage(message, this.#options.worker())) this.#here.add(change)
  }

  /** A fact of this process. */
  readonly tell = (fact: Fact): void => {
    for (const change of readFact(fact)) {
      if (this.#listeners.size > 0) this.#here.add(change)
      if (this.#watchedElsewhere) this.#elsewhere.add(change)
    }
  }

  onBeat({ watched }: { watched: boolean }): void {
    this.#watchedElsewhere = watched
    if (!watched) this.#elsewhere.drop()
    void this.#announce()
    if (!this.#options.hears()) this.lookAgain()
  }

  /** Words may have been missed: everything may have changed. */
  lookAgain(): void {
    if (this.#listeners.size > 0) for (const topic of topics) this.#here.add({ topic, more: true })
  }

  /** Sends what is gathered; a process that leaves does not take it along. */
  async stop(): Promise<void> {
    this.#listeners.clear()
    this.#here.drop()
    this.#elsewhere.flush()
    await this.#announcing
    await this.#telling
  }

  #deliver(changes: readonly Change[]): void {
    for (const listener of this.#listeners)
      for (const change of changes)
        try {
          listener(change)
        } catch (error) {
          this.#options.log.error('who looks on threw', { reason: String(error) })
        }
  }

  #send(changes: readonly Change[]): void {
    const { database, worker } = this.#options
    // A hint that is lost is made good by the next one, or by looking again.
    this.#telling = database
      .query(sql`select set_config('synchronous_commit', 'off', true), pg_notify('sluice', ${writeChanges(worker(), changes)})`)
      .catch(() => {})
  }

  /** One statement at a time, until the row says what is so. One that fails is tried again with the next beat. */
  #announce(): Promise<void> {
    this.#announcing ??= this.#sayWhatIsSo().finally(() => {
      this.#announcing = undefined
    })
    return this.#announcing
  }

  async #sayWhatIsSo(): Promise<void> {
    const { database, worker, log } = this.#options
    const wanted = (): number => (this.#listeners.size > 0 ? worker() : 0)
    try {
      for (let row = wanted(); row !== this.#announced; row = wanted()) {
        await database.query(sql`
          update sluice.worker set watching = ${row !== 0}
          where id = ${row || this.#announced}
          returning pg_notify('sluice', 'watch:')`)
        this.#announced = row
      }
    } catch (error) {
      log.warn('looking on could not be announced', { reason: String(error) })
    }
  }
}
