/**
 * The simulator's clock: real time plus an offset that can only grow.
 *
 * Everything the simulator says about time comes from here, so that a test or a bench can let an hour pass at once.
 */
export class SimClock {
  #offsetMs: number
  readonly #real: () => number

  constructor(start?: Date, real: () => number = Date.now) {
    this.#real = real
    this.#offsetMs = start ? start.getTime() - real() : 0
  }

  now(): number {
    return this.#real() + this.#offsetMs
  }

  advance(ms: number): number {
    if (!(ms >= 0)) throw new RangeError('The clock only moves forward.')
    this.#offsetMs += ms
    return this.now()
  }
}
