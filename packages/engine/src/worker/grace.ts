/**
 * How long a process that leaves lets its jobs run. Whoever asks again may cut it, and not lengthen it.
 */
import type { Clock, Timer } from '../support/clock.ts'

export class Grace {
  readonly over: Promise<void>
  #end: () => void = () => {}
  #endsAtMs = Number.POSITIVE_INFINITY
  #timer: Timer | undefined
  #canceled = false

  constructor() {
    this.over = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  shorten(ms: number, clock: Clock): void {
    const endsAtMs = clock.monotonic() + ms
    if (this.#canceled || endsAtMs >= this.#endsAtMs) return
    this.#endsAtMs = endsAtMs
    this.#timer?.cancel()
    this.#timer = clock.after(ms, this.#end)
  }

  /** All have ended: nobody waits for it any more. */
  cancel(): void {
    this.#canceled = true
    this.#timer?.cancel()
  }
}
