/**
 * A value that does not show itself: `[redacted]` wherever it is printed, joined, serialized or inspected. Only `reveal` gives it, so that whoever uses a
 * secret can be found by searching for that word. The value is a private field, which neither JSON, `util.inspect` nor `structuredClone` can reach.
 */
const shown = '[redacted]'

export class Sealed {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
    Object.freeze(this)
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return shown
  }

  toJSON(): string {
    return shown
  }

  [Symbol.toPrimitive](): string {
    return shown
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return shown
  }
}
