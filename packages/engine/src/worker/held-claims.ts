/**
 * The claims this process holds, from the moment it learns of them until they are settled.
 *
 * This record is what cancel reaches, what a lost lease aborts, and what the audit after a reconnect compares with the table.
 */
import type { Claim } from './claim.ts'
import type { StopReason } from './executor.ts'
import { StopSwitch } from './stop-switch.ts'

interface Held {
  readonly claim: Claim
  readonly stop: StopSwitch
  /** Given to the settler: a claim ends once. */
  ended: boolean
}

export class HeldClaims {
  readonly #held = new Map<number, Held>()

  get size(): number {
    return this.#held.size
  }

  ids(): number[] {
    return [...this.#held.keys()]
  }

  claims(): Claim[] {
    return [...this.#held.values()].map(({ claim }) => claim)
  }

  hold(claim: Claim): void {
    this.#held.set(claim.id, { claim, stop: new StopSwitch(), ended: false })
  }

  /** Nothing if the claim is not ours any more. */
  stopSwitch(claim: Claim): StopSwitch | undefined {
    return this.#find(claim)?.stop
  }

  /** True once: whoever hears it settles the claim. */
  end(claim: Claim): boolean {
    const held = this.#find(claim)
    if (!held || held.ended) return false
    held.ended = true
    return true
  }

  forget(claim: Claim): void {
    if (this.#find(claim)) this.#held.delete(claim.id)
  }

  abort(id: number, reason: StopReason): void {
    this.#held.get(id)?.stop.abort(reason)
  }

  /** What was held belongs to others now. */
  drop(): void {
    for (const { stop } of this.#held.values()) stop.abort('lease lost')
    this.#held.clear()
  }

  #find(claim: Claim): Held | undefined {
    const held = this.#held.get(claim.id)
    return held?.claim.fence === claim.fence ? held : undefined
  }
}
