/**
 * Runner: what happens around a handler. It notes when the handler started and tells it to whoever observes.
 */
import type { AnyKind } from '../job/kind.ts'
import type { Clock } from '../support/clock.ts'
import type { Witness } from '../support/witness.ts'
import { type ExecutorDeps, execute } from './executor.ts'
import type { Held, HeldClaims } from './held-claims.ts'
import { canceled, type Verdict } from './judge.ts'
import { OwnProcesses } from './own-process.ts'

export interface RunnerOptions {
  readonly services: unknown
  readonly clock: Clock
  readonly random: () => number
  readonly witness: Witness
  readonly held: HeldClaims
  readonly priorityStepMs: () => number
}

export class Runner {
  readonly #options: RunnerOptions
  readonly #executor: ExecutorDeps
  readonly #processes = new OwnProcesses()

  constructor(options: RunnerOptions) {
    const { services, clock, random } = options
    this.#options = options
    this.#executor = {
      services,
      clock,
      random,
      compute: (kind, input, signal) => this.#processes.run(kind, input, signal),
    }
  }

  run(held: Held, kind: AnyKind): Verdict | Promise<Verdict> {
    const { claim, stop } = held
    if (stop.reason === 'canceled') return canceled
    if (this.#options.witness.jobs) this.#tellStarted(held)
    return execute(claim, kind, stop, this.#executor, this.#options.held.reporter(claim))
  }

  /** How long the handler of an attempt ran; known only if somebody observes. */
  ranMs({ startedMs }: Held): number | undefined {
    return startedMs === undefined ? undefined : this.#options.clock.monotonic() - startedMs
  }

  stop(): void {
    this.#processes.stop()
  }

  /** Its fence says when it was claimed, its rank when it was ready, both by the clock of the database. */
  #tellStarted(held: Held): void {
    const { clock, witness, priorityStepMs } = this.#options
    const { id, kind, attempt, fence, rank, priority } = held.claim
    held.startedMs = clock.monotonic()
    const waitedMs = fence / 1000 - (rank + priority * priorityStepMs()) + held.startedMs - held.heldMs
    witness.jobs?.({ type: 'job.started', job: id, kind, attempt, waitedMs: Math.max(0, waitedMs) })
  }
}
