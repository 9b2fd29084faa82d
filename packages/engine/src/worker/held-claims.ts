/**
 * The claims this process holds, from the moment it learns of them until they are settled.
 *
 * This record is what cancel reaches, what a lost lease aborts, and what the audit after a reconnect compares with the table.
 */

import type { Claim } from '../dispatch/claim.ts'
import { addReport, type BudgetReport } from '../lane/budget-report.ts'
import type { StopReason } from './executor.ts'
import type { Attempt } from './handler-context.ts'
import { StopSwitch } from './stop-switch.ts'

export interface Held extends Attempt {
  /** When its claim came back, by the monotonic clock, and when its handler started; only if somebody observes. */
  readonly heldMs: number
  startedMs: number | undefined
  /** Given to the settler: a claim ends once. */
  ended: boolean
  /** What its handler heard about the budget of its lane. */
  said: BudgetReport | undefined
  /** W3C traceparent of its span, which its children carry on. */
  trace: string | undefined
}

const earlyMax = 1_000

export class HeldClaims {
  readonly #held = new Map<number, Held>()
  /** Canceled before the answer of their claim was here, and the fence of that claim: none that is younger is meant. */
  readonly #canceledEarly = new Map<number, number>()

  get size(): number {
    return this.#held.size
  }

  has(id: number): boolean {
    return this.#held.has(id)
  }

  ids(): number[] {
    return [...this.#held.keys()]
  }

  claims(): Claim[] {
    return [...this.#held.values()].map(({ claim }) => claim)
  }

  hold(claim: Claim, heldMs = 0): void {
    const stop = new StopSwitch()
    // All fields at once: objects of one shape are read faster.
    this.#held.set(claim.id, {
      claim,
      stop,
      heldMs,
      startedMs: undefined,
      ended: false,
      said: undefined,
      trace: undefined,
      written: undefined,
    })
    const fence = this.#canceledEarly.get(claim.id)
    if (fence === undefined) return
    this.#canceledEarly.delete(claim.id)
    if (claim.fence <= fence) stop.abort('canceled')
  }

  /** A claim commits before its answer is here; `onTheWay` says that there may be one that this cancel is meant for. */
  cancel(id: number, fence: number, onTheWay: boolean): void {
    const held = this.#held.get(id)
    if (held && held.claim.fence <= fence) held.stop.abort('canceled')
    if (held || !onTheWay) return
    this.#canceledEarly.set(id, fence)
    // Most of them run elsewhere. One that is forgotten and comes all the same is told by the heartbeat.
    if (this.#canceledEarly.size > earlyMax) this.#canceledEarly.delete(this.#canceledEarly.keys().next().value as number)
  }

  noneOnTheWay(): void {
    this.#canceledEarly.clear()
  }

  /** Nothing if the claim is not ours any more. */
  find(claim: Claim): Held | undefined {
    const held = this.#held.get(claim.id)
    return held?.claim.fence === claim.fence ? held : undefined
  }

  /** Takes what the handler of a job in a lane hears about its budget. */
  reporter(claim: Claim): ((report: BudgetReport) => void) | undefined {
    const held = claim.lane === undefined ? undefined : this.find(claim)
    return held && ((report) => void (held.said = held.said ? addReport(held.said, report) : report))
  }

  /** Answers once: whoever gets it settles the claim. */
  end(claim: Claim): Held | undefined {
    const held = this.find(claim)
    if (!held || held.ended) return undefined
    held.ended = true
    return held
  }

  forget(claim: Claim): void {
    if (this.find(claim)) this.#held.delete(claim.id)
  }

  abort(id: number, reason: StopReason): void {
    this.#held.get(id)?.stop.abort(reason)
  }

  /** What was held belongs to others now. */
  drop(): void {
    for (const { stop } of this.#held.values()) stop.abort('lease lost')
    this.#held.clear()
  }
}
