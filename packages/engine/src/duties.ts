/**
 * Duties: what a process does once it is started, wired to one another. Read this file for how beats, wake-ups and claims hang together.
 *
 * The heartbeat keeps the lease and reads what only the database knows; the listener hears wake-ups; the worker claims and runs; one process
 * leads, and its scheduler fires. They know nothing of each other but what is passed here. At the start the listener comes after the first beat and before
 * the first claim; at the end the heartbeat stops last, so that nobody takes the jobs meanwhile.
 */
import type { Dispatcher } from './dispatch/dispatcher.ts'
import type { Change } from './inspect/change.ts'
import { Feed, type Stop } from './inspect/feed.ts'
import { Leader } from './maintenance/leader.ts'
import type { Settled } from './options.ts'
import type { Database } from './postgres/database.ts'
import { Listener } from './postgres/listener.ts'
import { RunWaiters } from './run/run-waiters.ts'
import { Scheduler } from './schedule/scheduler.ts'
import type { EngineStatus } from './status.ts'
import { type Witness, witness } from './support/witness.ts'
import { hear } from './wake-ups.ts'
import { type Beat, Heartbeat } from './worker/heartbeat.ts'
import { Worker } from './worker/worker.ts'

export interface DutyParts {
  readonly options: Settled
  readonly database: Database
  readonly dispatcher: Dispatcher
  readonly payloadBytesMax: () => number
  readonly priorityStepMs: () => number
  /** The process is about to end: it does not want to lead any more. */
  readonly leaving: () => boolean
}

export class Duties {
  readonly witness: Witness
  readonly runWaiters: RunWaiters
  #graceMs: number
  #isStopping = false
  readonly #dispatcher: Dispatcher
  readonly #worker: Worker
  readonly #heartbeat: Heartbeat
  readonly #leader: Leader
  readonly #scheduler: Scheduler
  readonly #listener: Listener
  readonly #feed: Feed

  constructor({ options, database, dispatcher, leaving, ...limits }: DutyParts) {
    const { clock, log, leaseMs } = options
    this.#graceMs = options.graceMs
    this.#dispatcher = dispatcher
    const hears = (): boolean => this.#listener.hears
    this.#feed = new Feed({ database, clock, log, worker: () => this.#worker.id, hears })
    this.runWaiters = new RunWaiters({ clock, hears })
    const seen = witness(options.observe, log, this.#feed)
    this.witness = seen
    const trusted = (): boolean => this.#heartbeat.trusted
    const beatNow = (): void => void this.#heartbeat.beatNow()
    const onReady = (topics: readonly string[]): void => this.wake(topics)
    this.#worker = new Worker({
      ...options,
      ...limits,
      database,
      dispatcher,
      witness: seen,
      trusted,
      beatNow,
      onBusy: () => this.#heartbeat.hurry(),
    })
    this.#leader = new Leader({ ...options, database, witness: seen, trusted, onReady, beatNow })
    this.#scheduler = new Scheduler({ database, clock, log, witness: seen, term: () => this.#leader.term, hears, onReady })
    this.#heartbeat = new Heartbeat({
      database,
      clock,
      log,
      leaseMs,
      pools: Object.keys(options.pools),
      mayLead: () => options.lead && !leaving(),
      worker: () => this.#worker.id,
      unknownKinds: () => [...this.#worker.unknownKinds],
      running: () => Object.fromEntries([...this.#worker.pools.values()].map((pool) => [pool.name, pool.running])),
      busy: () => this.#worker.busy,
      offeredMs: () => this.#worker.handOver.offeredMs(),
      hears,
      onBeat: (beat) => this.#onBeat(beat),
    })
    this.#listener = new Listener({
      database,
      clock,
      log,
      onMessage: (message) => {
        hear(message, {
          worker: this.#worker,
          leader: this.#leader,
          runWaiters: this.runWaiters,
          scheduler: this.#scheduler,
          beatNow,
        })
        this.#feed.hear(message)
      },
      onOwnMessage: (message) => this.#worker.handOver.receive(message),
      onHears: (channel) => void this.#worker.handOver.open(channel),
      onConnect: (again) => {
        if (again) this.#worker.reconnected()
        else this.#worker.wakeAll()
        this.#scheduler.hear()
        this.#feed.lookAgain()
        this.runWaiters.lookAgain()
        beatNow() // what was told while nobody listened: due times, pauses, cancels
      },
    })
  }

  async start(): Promise<void> {
    await this.#worker.start()
    await this.#heartbeat.start()
    await this.#listener.start()
    this.#worker.wakeAll()
  }

  /** Running jobs have no longer than this, also if they are being waited for. */
  shortenGrace(graceMs: number): void {
    this.#graceMs = Math.min(this.#graceMs, graceMs)
    if (this.#isStopping) void this.#worker.stop(this.#graceMs)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#leader.stop()
    this.#scheduler.stop()
    await this.#listener.stop()
    await this.#worker.stop(this.#graceMs)
    await this.#feed.stop()
    await this.#heartbeat.stop()
  }

  wake(topics: readonly string[]): void {
    for (const topic of topics) this.#worker.wake(topic)
  }

  /** Those that run here hear of a cancel now: when the caller knows, no handler of this process starts any more. Others are notified. */
  readonly cancel = (id: number, fence: number): void => this.#worker.cancel(id, fence)

  /** Schedules changed, and the leader may be this very process. */
  hearSchedules(): void {
    this.#scheduler.hear()
  }

  watch(listener: (change: Change) => void): Stop {
    return this.#feed.watch(listener)
  }

  status(): Omit<EngineStatus, 'ready' | 'problems'> & { answered: boolean; trusted: boolean } {
    const { answered, trusted } = this.#heartbeat
    return {
      answered,
      trusted,
      worker: this.#worker.id || undefined,
      leads: this.#leader.term !== undefined,
      wakeUps: this.#listener.hears ? 'notifications' : 'heartbeat',
      running: [...this.#worker.pools.values()].reduce((sum, pool) => sum + pool.running, this.#worker.suspects.inHand),
      dispatch: this.#dispatcher.status,
    }
  }

  async #onBeat(beat: Beat): Promise<void> {
    this.#leader.onBeat(beat)
    this.#scheduler.onBeat(beat)
    await this.#worker.onBeat(beat)
    this.#feed.onBeat(beat)
  }
}
