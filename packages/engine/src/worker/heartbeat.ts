/**
 * Heartbeat: one statement that says "alive", renews leadership, and asks what this process may have missed.
 *
 * It has a connection of its own, so that busy handlers cannot make the process look dead. While jobs run it beats three times a lease;
 * idle it beats just often enough to keep the lease, or when the leader's term ends. Trust in the lease is kept by the monotonic clock from
 * the moment the statement was sent: past it the process claims nothing, because it may have been declared dead.
 */
import type pg from 'pg'
import type { Database } from '../postgres/database.ts'
import type { Clock, Timer } from '../support/clock.ts'
import type { Log } from '../support/log.ts'
import type { Service } from '../support/service.ts'

export interface Beat {
  /** When it was sent, by the monotonic clock. */
  readonly sentMs: number
  /** The last one did not get through. */
  readonly afterTrouble: boolean
  readonly known: boolean
  readonly term: number | undefined
  readonly leaderMs: number
  readonly ready: readonly string[]
  /** Pools with open turns: ready jobs in lanes. */
  readonly turns: readonly string[]
  readonly cancel: readonly number[]
  readonly suspects: boolean
  readonly nowMs: number
  readonly dueMs: number | undefined
  readonly nextLeaseMs: number | undefined
  readonly chores: boolean
  /** Another process looks on live. */
  readonly watched: boolean
  /** Jobs that this process is said to run, among them all that were handed over to it lately. */
  readonly handed: readonly number[]
}

export interface HeartbeatOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly leaseMs: number
  readonly pools: readonly string[]
  readonly mayLead: () => boolean
  readonly worker: () => number
  readonly unknownKinds: () => readonly string[]
  /** How many jobs of this process run, by pool. */
  readonly running: () => Readonly<Record<string, number>>
  /** Whether this process holds any. */
  readonly busy: () => boolean
  /** Whether wake-ups arrive; without them the heartbeat is the wake-up. */
  readonly hears: () => boolean
  /** For how long jobs may have been handed over to this process without its knowing; null if they cannot. */
  readonly offeredMs: () => number | null
  readonly onBeat: (beat: Beat) => Promise<void> | void
}

type BeatRow = [
  boolean,
  number | null,
  number,
  string[],
  string[],
  number[] | null,
  boolean,
  number,
  number | null,
  number | null,
  boolean | null,
  boolean | null,
  number[] | null,
]

const statement = {
  name: 'sluice_beat',
  text: `select known, term, leader_ms, ready, turns, cancel, suspects, now_ms, due_ms, next_lease_ms, chores, watched, handed
         from sluice.beat($1, $2, $3, $4, $5, $6, $7)`,
}
const deafIntervalMs = 1_000
const retryMs = 250
const answerTimeoutMs = 5_000

export class Heartbeat implements Service {
  readonly #options: HeartbeatOptions
  #client: pg.Client | undefined
  #timer: Timer | undefined
  #beating: Promise<void> | undefined
  #trustedUntilMs = Number.NEGATIVE_INFINITY
  #sentMs = Number.NEGATIVE_INFINITY
  #dueMs = Number.POSITIVE_INFINITY
  #sent = false
  #again = false
  #stopped = false
  /** When the last beat got through, for readiness. */
  answered = false
  /** Told once, not at every try. */
  #wasKnown = true
  #isFailing = false

  constructor(options: HeartbeatOptions) {
    this.#options = options
  }

  get trusted(): boolean {
    return this.#options.clock.monotonic() < this.#trustedUntilMs
  }

  async start(): Promise<void> {
    await this.beatNow()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#beating
    await this.#client?.end().catch(() => {})
  }

  /** Jobs have begun to run here: from now on the beat of a busy process counts, from the last one that was sent. */
  hurry(): void {
    if (this.#stopped || this.#beating) return
    const dueMs = this.#sentMs + this.#options.leaseMs / 3
    // Most of the time it is on its way already, and a timer that is set anew costs a start as much as its handler.
    if (dueMs < this.#dueMs - 1) this.#beatIn(dueMs - this.#options.clock.monotonic())
  }

  /**
   * Beats at once; calls that come together share one beat. A call that comes when the statement is on its way causes another: that
   * statement may have looked before what the caller knows of.
   */
  beatNow(): Promise<void> {
    if (this.#sent) this.#again = true
    this.#beating ??= this.#beatUntilQuiet().finally(() => {
      this.#beating = undefined
    })
    return this.#beating
  }

  async #beatUntilQuiet(): Promise<void> {
    await Promise.resolve() // callers of the same moment come along
    do {
      this.#again = false
      await this.#beat().finally(() => {
        this.#sent = false
      })
    } while (this.#again && !this.#stopped)
  }

  async #beat(): Promise<void> {
    if (this.#stopped) return
    this.#timer?.cancel()
    const { clock, leaseMs, log, onBeat } = this.#options
    const sentMs = clock.monotonic()
    this.#sentMs = sentMs
    let waitMs = retryMs
    try {
      const beat = await this.#ask()
      this.answered = true
      this.#isFailing = false
      if (beat.known) this.#trustedUntilMs = sentMs + leaseMs
      await onBeat(beat)
      // Declared dead and registered anew: the new lease is trusted with the next beat, so that comes at once.
      // One that stops does not register anew, and has nothing to hurry for.
      waitMs = beat.known ? this.#nextMs(beat) : this.#wasKnown ? 0 : retryMs
      this.#wasKnown = beat.known
    } catch (error) {
      if (!this.#isFailing) log.warn('heartbeat failed', { reason: String(error) })
      this.#isFailing = true
      this.answered = false
      const broken = this.#client
      this.#client = undefined
      await broken?.end().catch(() => {})
    }
    if (!this.#stopped) this.#beatIn(waitMs)
  }

  #beatIn(waitMs: number): void {
    const { clock } = this.#options
    this.#timer?.cancel()
    this.#dueMs = clock.monotonic() + waitMs
    this.#timer = clock.after(waitMs, () => void this.beatNow())
  }

  async #ask(): Promise<Beat> {
    const { database, leaseMs, pools, mayLead, worker, unknownKinds, running, offeredMs, clock } = this.#options
    this.#client ??= await this.#connect()
    const client = this.#client
    // A half-open connection never answers; ending it makes the statement fail.
    const late = clock.after(answerTimeoutMs, () => void client.end().catch(() => {}))
    try {
      this.#sent = true
      const [row] = await database.send<BeatRow>(client, statement, [
        worker(),
        leaseMs,
        pools,
        unknownKinds(),
        mayLead(),
        JSON.stringify(running()),
        offeredMs(),
      ])
      if (!row) throw new Error('the heartbeat got an empty answer')
      const [known, term, leaderMs, ready, turns, cancel, suspects, nowMs, dueMs, nextLeaseMs, chores, watched, handed] = row
      return {
        sentMs: this.#sentMs,
        afterTrouble: this.#isFailing,
        known,
        term: term ?? undefined,
        leaderMs,
        ready: ready ?? [],
        turns: turns ?? [],
        cancel: cancel ?? [],
        suspects,
        nowMs,
        dueMs: dueMs ?? undefined,
        nextLeaseMs: nextLeaseMs ?? undefined,
        chores: chores ?? false,
        watched: watched ?? false,
        handed: handed ?? [],
      }
    } finally {
      late.cancel()
    }
  }

  /** A connection that ends tells at once that the server is away; the next beat may be seconds off. */
  async #connect(): Promise<pg.Client> {
    const client = await this.#options.database.client('heartbeat')
    client.once('end', () => {
      if (this.#client !== client || this.#stopped) return
      this.#client = undefined
      void this.beatNow()
    })
    return client
  }

  #nextMs(beat: Beat): number {
    const { leaseMs, busy, hears, mayLead } = this.#options
    const intervalMs = !hears() ? Math.min(deafIntervalMs, leaseMs / 3) : busy() ? leaseMs / 3 : leaseMs * 0.75
    // Whoever waits for the leader's term to end takes over when it does, not at the next round.
    return mayLead() && beat.term === undefined ? Math.max(50, Math.min(intervalMs, beat.leaderMs + 50)) : intervalMs
  }
}
