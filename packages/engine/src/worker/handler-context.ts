/**
 * What a handler is given. Most handlers use two or three of these, and making all of them anew took a tenth of what a small job costs; so
 * what takes making is made when it is asked for. Everything can be taken out by destructuring.
 */

import type { Claim } from '../dispatch/claim.ts'
import type { JobContext } from '../job/context.ts'
import type { AnyKind } from '../job/kind.ts'
import { type BudgetReport, checkReport } from '../lane/budget-report.ts'
import type { Clock } from '../support/clock.ts'
import type { Written } from './log-buffer.ts'
import type { StopSwitch } from './stop-switch.ts'

/** An attempt under way: what it runs for, what stops it, and how much it has logged. */
export interface Attempt {
  readonly claim: Claim
  readonly stop: StopSwitch
  written?: Written | undefined
}

/** What stands behind what is made when it is asked for. */
export interface ContextDeps {
  readonly clock: Clock
  readonly log: (attempt: Attempt, message: string, fields?: Readonly<Record<string, unknown>>) => void
  readonly compute: (kind: AnyKind, input: unknown, signal: AbortSignal) => Promise<unknown>
}

export class HandlerContext implements JobContext<unknown> {
  readonly id: number
  readonly kind: string
  readonly payload: unknown
  readonly owner: string | undefined
  readonly attempt: number
  readonly maxAttempts: number
  readonly lane: string | undefined
  readonly run: number | undefined
  readonly event: number | undefined
  readonly #attempt: Attempt
  readonly #kind: AnyKind
  readonly #deps: ContextDeps
  readonly #report: ((said: BudgetReport) => void) | undefined

  constructor(
    attempt: Attempt,
    kind: AnyKind,
    payload: unknown,
    deps: ContextDeps,
    report: ((said: BudgetReport) => void) | undefined,
  ) {
    const { claim } = attempt
    this.id = claim.id
    this.kind = claim.kind
    this.payload = payload
    this.owner = claim.owner
    this.attempt = claim.attempt
    this.maxAttempts = claim.maxAttempts
    this.lane = claim.lane
    this.run = claim.run
    this.event = claim.event
    this.#attempt = attempt
    this.#kind = kind
    this.#deps = deps
    this.#report = report
  }

  get createdAt(): Date {
    return new Date(this.#attempt.claim.createdAtMs)
  }

  get idempotencyKey(): string {
    return `sluice-job-${this.id}`
  }

  get signal(): AbortSignal {
    return this.#attempt.stop.signal
  }

  get report(): JobContext<unknown>['report'] {
    return (said) => this.#report?.(checkReport(said, this.#deps.clock.now()))
  }

  get log(): JobContext<unknown>['log'] {
    return (message, fields) => this.#deps.log(this.#attempt, message, fields)
  }

  get compute(): JobContext<unknown>['compute'] {
    return (input = this.payload) => this.#deps.compute(this.#kind, input, this.signal)
  }
}
