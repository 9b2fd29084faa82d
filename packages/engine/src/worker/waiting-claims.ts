/**
 * Claims that wait for a slot, from two sources: the open lane and the other lanes. Each source is first in, first out; they start in turn.
 */
import type { Claim } from '../dispatch/claim.ts'

export class WaitingClaims {
  readonly #open = new Line()
  readonly #laned = new Line()
  #lanedNext = true

  get size(): number {
    return this.#open.size + this.#laned.size
  }

  get laned(): number {
    return this.#laned.size
  }

  add(claims: readonly Claim[]): void {
    for (const claim of claims) (claim.lane === undefined ? this.#open : this.#laned).push(claim)
  }

  /** Only while there is one. */
  next(): Claim {
    const laned = this.#laned.size > 0 && (this.#lanedNext || this.#open.size === 0)
    this.#lanedNext = !laned
    return (laned ? this.#laned : this.#open).shift()
  }

  takeAll(): Claim[] {
    return [...this.#laned.takeAll(), ...this.#open.takeAll()]
  }
}

/** Array.shift moves everything that stays; hundreds of claims a millisecond would feel it. */
class Line {
  #claims: Claim[] = []
  #head = 0

  get size(): number {
    return this.#claims.length - this.#head
  }

  push(claim: Claim): void {
    if (this.#head === this.#claims.length) {
      this.#claims = []
      this.#head = 0
    }
    this.#claims.push(claim)
  }

  shift(): Claim {
    return this.#claims[this.#head++] as Claim
  }

  takeAll(): Claim[] {
    const rest = this.#claims.slice(this.#head)
    this.#claims = []
    this.#head = 0
    return rest
  }
}
