/**
 * Runner: what happens around a handler. It notes when the handler started, tells it to whoever observes, and takes the lines it logs.
 */
import type { AnyKind } from '../job/kind.ts'
import type { Database } from '../postgres/database.ts'
import type { Clock } from '../support/clock.ts'
import type { Log } from '../support/log.ts'
import type { Witness } from '../support/witness.ts'
import { type ExecutorDeps, execute } from './executor.ts'
import type { Held, HeldClaims } from './held-claims.ts'
import { canceled, type Verdict } from './judge.ts'
import { LogBuffer } from './log-buffer.ts'
import { OwnProcesses } from './own-process.ts'

export interface RunnerOptions {
  readonly database: Database
  readonly services: unknown
  readonly clock: Clock
  readonly log: Log
  readonly random: () => number
  readonly witness: Witness
  readonly held: HeldClaims
  readonly priorityStepMs: () => number
}

export class Runner {
  readonly #options: RunnerOptions
  readonly #executor: ExecutorDeps
  readonly #processes = new OwnProcesses()
  readonly #lines: LogBuffer

  constructor(options: RunnerOptions) {
    const { services, clock, random } = options
    this.#options = options
    this.#lines = new LogBuffer(options)
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
    const log = (message: string, fields?: object): void => this.#lines.add(held, message, fields)
    return execute(claim, kind, stop, this.#executor, this.#options.held.reporter(claim), log)
  }

  /** The attempt is over. Answers how long its handler ran; known only if somebody observes. */
  end(held: Held): number | undefined {
    const { startedMs, written } = held
    if (written) this.#lines.end(held)
    return startedMs === undefined ? undefined : this.#options.clock.monotonic() - startedMs
  }

  /** Stores what was logged so far. */
  flush(): Promise<void> {
    return this.#lines.flush()
  }

  async stop(): Promise<void> {
    this.#processes.stop()
    await this.#lines.close()
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
