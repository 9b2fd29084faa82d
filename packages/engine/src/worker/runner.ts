/**
 * Runner: what happens around a handler. It notes when the handler started, tells it to whoever observes, gives it a span, and takes the
 * lines it logs.
 */
import { context, type Tracer } from '@opentelemetry/api'
import type { AnyKind } from '../job/kind.ts'
import type { Database } from '../postgres/database.ts'
import type { Clock } from '../support/clock.ts'
import type { Scrub } from '../support/errors.ts'
import type { Log } from '../support/log.ts'
import { endRunning, findTracer, startRunning } from '../support/trace.ts'
import type { Witness } from '../support/witness.ts'
import { type ExecutorDeps, execute } from './executor.ts'
import type { Held, HeldClaims } from './held-claims.ts'
import { stoppedEarly, type Verdict } from './judge.ts'
import { LogBuffer } from './log-buffer.ts'
import { OwnProcesses } from './own-process.ts'

export interface RunnerOptions {
  readonly database: Database
  readonly services: unknown
  readonly clock: Clock
  readonly log: Log
  readonly random: () => number
  readonly scrub?: Scrub | undefined
  readonly witness: Witness
  readonly held: HeldClaims
  readonly priorityStepMs: () => number
}

export class Runner {
  readonly #options: RunnerOptions
  readonly #executor: ExecutorDeps
  readonly #processes = new OwnProcesses()
  readonly #lines: LogBuffer
  #tracer: Tracer | undefined

  constructor(options: RunnerOptions) {
    const { services, clock, random, scrub } = options
    this.#options = options
    this.#lines = new LogBuffer(options)
    this.#executor = {
      services,
      clock,
      random,
      scrub,
      log: (attempt, message, fields) => this.#lines.add(attempt, message, fields),
      compute: (kind, input, signal) => this.#processes.run(kind, input, signal),
    }
  }

  /** Claims have come: an SDK may have been registered since the last ones. Once for all of them, because looking costs as much as the rest here. */
  prepare(): void {
    this.#tracer = findTracer()
  }

  run(held: Held, kind: AnyKind): Verdict | Promise<Verdict> {
    if (held.stop.reason === 'canceled') return stoppedEarly
    if (this.#options.witness.jobs) this.#tellStarted(held)
    return this.#tracer ? this.#runInSpan(this.#tracer, held, kind) : this.#execute(held, kind)
  }

  #execute(held: Held, kind: AnyKind): Verdict | Promise<Verdict> {
    return execute(held, kind, this.#executor, this.#options.held.reporter(held.claim))
  }

  /** The span ends with the handler; what the handler has written at the settle still happens in its context. */
  #runInSpan(tracer: Tracer, held: Held, kind: AnyKind): Verdict | Promise<Verdict> {
    const running = startRunning(tracer, held.claim)
    if (!running) return this.#execute(held, kind)
    held.trace = running.trace
    const ended = (verdict: Verdict): Verdict => {
      endRunning(running, verdict.outcome, 'error' in verdict ? verdict.error : undefined)
      return verdict.outcome === 'done' && verdict.write
        ? { ...verdict, write: context.bind(running.context, verdict.write) }
        : verdict
    }
    const verdict = context.with(running.context, () => this.#execute(held, kind))
    return verdict instanceof Promise ? verdict.then(ended) : ended(verdict)
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
