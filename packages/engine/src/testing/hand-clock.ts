/**
 * A clock that stands still until a test turns it. Timers that fall due on the way fire in order.
 */
import type { Clock, Timer } from '../support/clock.ts'

export class HandClock implements Clock {
  #nowMs: number
  #turnedMs = 0
  #timers: { atMs: number; act: () => void }[] = []

  constructor(start: Date = new Date('2026-01-01T00:00:00Z')) {
    this.#nowMs = start.getTime()
  }

  now(): number {
    return this.#nowMs + this.#turnedMs
  }

  monotonic(): number {
    return this.#turnedMs
  }

  after(ms: number, act: () => void): Timer {
    const timer = { atMs: this.#turnedMs + Math.max(0, ms), act }
    this.#timers.push(timer)
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer)
      },
    }
  }

  turn(ms: number): void {
    const endMs = this.#turnedMs + ms
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
