/**
 * Scheduler: the leader's duty to fire schedules at their time.
 *
 * It sleeps until the next fire that the database named. Whoever stores or changes a schedule wakes it, and so do a new term and a reconnect. Each
 * heartbeat brings the database's time, and the timer is set anew by it, so that a clock that was set forward or back moves the fire
 * with it without a statement. An idle engine asks nothing; only as a backstop for a wake-up that got lost on the way it looks once in ten
 * minutes, and once a minute where wake-ups do not arrive at all.
 */
import type { Clock, Timer } from '../support/clock.ts'
import type { Service } from '../support/service.ts'
import { type FireOptions, fireDue } from './fire-due.ts'

export interface SchedulerOptions extends FireOptions {
  readonly clock: Clock
  readonly hears: () => boolean
}

const retryMs = 1_000
const lookEveryMs = 600_000
const deafLookEveryMs = 60_000

export class Scheduler implements Service {
  readonly #options: SchedulerOptions
  #timer: Timer | undefined
  #term: number | undefined
  #nextMs: number | undefined
  #lookedMs = Number.NEGATIVE_INFINITY
  #working = false
  #again = false
  #stopped = false

  constructor(options: SchedulerOptions) {
    this.#options = options
  }

  start(): void {
    this.#stopped = false
  }

  stop(): void {
    this.#stopped = true
    this.#rest()
  }

  onBeat({ nowMs }: { readonly nowMs: number }): void {
    const { clock, hears, term } = this.#options
    const current = term()
    if (current === undefined || this.#stopped) return this.#rest()
    const stale = clock.monotonic() - this.#lookedMs >= (hears() ? lookEveryMs : deafLookEveryMs)
    if (current !== this.#term || stale) {
      this.#term = current
      void this.runOnce()
    } else if (!this.#working && this.#nextMs !== undefined) this.#sleep(this.#nextMs - nowMs)
  }

  /** Something was stored, or may have been while nobody listened. */
  hear(): void {
    if (!this.#stopped && this.#options.term() !== undefined) void this.runOnce()
  }

  /** A call that comes during a round causes another: that one may have looked before what the caller knows of. */
  async runOnce(): Promise<void> {
    this.#again = true
    if (this.#working) return
    this.#working = true
    const { clock, log } = this.#options
    try {
      while (this.#again) {
        this.#again = false
        this.#timer?.cancel()
        this.#lookedMs = clock.monotonic()
        const round = await fireDue(this.#options)
        this.#nextMs = round?.nextMs
        if (round?.again) this.#sleep(retryMs)
        else if (round?.nextMs !== undefined) this.#sleep(round.nextMs - round.nowMs)
      }
    } catch (error) {
      log.warn('schedules not looked at', { reason: String(error) })
      this.#sleep(retryMs)
    } finally {
      this.#working = false
    }
  }

  #sleep(ms: number): void {
    this.#timer?.cancel()
    // Whoever no longer leads waits for nothing: a timer would keep a process alive that has left.
    if (this.#stopped || this.#options.term() === undefined) return
    this.#timer = this.#options.clock.after(Math.max(0, Math.ceil(ms)), () => void this.runOnce())
  }

  #rest(): void {
    this.#timer?.cancel()
    this.#term = undefined
    this.#nextMs = undefined
  }
}
