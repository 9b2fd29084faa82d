/**
 * A clock that stands still until a test turns it. Timers that fall due on the way fire in order.
 */
import type { Clock, Timer } from '../support/clock.ts'
import { type Duration, toMs } from '../support/duration.ts'
import { SluiceError } from '../support/errors.ts'

export class HandClock implements Clock {
  #nowMs: number
  #turnedMs = 0
  #timers: { atMs: number; act: () => void }[] = []

  constructor(start: Date = new Date('2026-01-01T00:00:00Z')) {
    if (!(start instanceof Date) || Number.isNaN(start.getTime()))
      throw new SluiceError('INVALID_OPTION', { field: 'start', problem: 'is no usable Date; give one, or leave it out' })
    this.#nowMs = start.getTime()
  }

  now(): number {
    return this.#nowMs + this.#turnedMs
  }

  monotonic(): number {
    return this.#turnedMs
  }

  after(ms: number, act: () => void): Timer {
    if (typeof ms !== 'number' || Number.isNaN(ms))
      throw new SluiceError('INVALID_OPTION', { field: 'after.ms', problem: 'is no number; give milliseconds' })
    if (typeof act !== 'function')
      throw new SluiceError('INVALID_OPTION', { field: 'after.act', problem: 'is no function; give what shall happen then' })
    const timer = { atMs: this.#turnedMs + Math.max(0, ms), act }
    this.#timers.push(timer)
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer)
      },
    }
  }

  turn(by: Duration): void {
    const endMs = this.#turnedMs + toMs(by, 'turn')
    for (let next = this.#next(endMs); next; next = this.#next(endMs)) {
      this.#timers = this.#timers.filter((other) => other !== next)
      this.#turnedMs = Math.max(this.#turnedMs, next.atMs)
      next.act()
    }
    this.#turnedMs = endMs
  }

  #next(endMs: number): { atMs: number; act: () => void } | undefined {
    return this.#timers.filter((timer) => timer.atMs <= endMs).toSorted((a, b) => a.atMs - b.atMs)[0]
  }
}
