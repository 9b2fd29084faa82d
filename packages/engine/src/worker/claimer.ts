/**
 * Claimer: sends the claims of a process through its gate and lets the worker admit what comes back.
 *
 * Nothing is claimed while the process may not (lease over, leaving, making room for a suspect). A claim that failed is tried again in a
 * moment; whether it took effect is for the gate's audit to find out.
 */
import type { Claim } from '../dispatch/claim.ts'
import type { Door } from '../dispatch/dispatcher.ts'
import { claimSuspect } from '../dispatch/postgres/claim.ts'
import type { Database } from '../postgres/database.ts'
import type { Clock } from '../support/clock.ts'
import type { Probe } from '../support/fail-point.ts'
import type { Log } from '../support/log.ts'
import type { ClaimGate } from './claim-gate.ts'

export interface ClaimerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly probe: Probe
  readonly gate: ClaimGate
  readonly worker: () => number
  readonly mayClaim: () => boolean
  readonly unknownKinds: () => string[]
  /** Takes hold of claims and answers those that this process will run. */
  readonly admit: (claims: Claim[]) => Claim[]
  readonly lookAgain: (pool: string) => void
}

const retryMs = 250

export class Claimer implements Door {
  readonly #options: ClaimerOptions

  constructor(options: ClaimerOptions) {
    this.#options = options
  }

  worker(): number {
    return this.#options.worker()
  }

  unknownKinds(): string[] {
    return this.#options.unknownKinds()
  }

  open(): boolean {
    return this.#options.mayClaim()
  }

  async audit(): Promise<void> {
    await this.#options.gate.open()
  }

  async pass<F extends { claims: Claim[] }>(pool: string, claim: () => Promise<F>): Promise<F | undefined> {
    const { gate, clock, log, probe, mayClaim, admit, lookAgain } = this.#options
    // Whoever was woken sends its claim in the same breath: to wait for a gate that is open took as long as to send it.
    if (!mayClaim() || (!gate.isOpen && (!(await gate.open()) || !mayClaim()))) return undefined
    try {
      return await gate.pass(
        async () => {
          const claiming = claim()
          void probe('claim sent')
          const found = await claiming
          if (found.claims.length > 0) await probe('claimed')
          return found
        },
        (found) => ({ ...found, claims: admit(found.claims) }),
      )
    } catch (error) {
      log.warn('claim failed', { pool, reason: String(error) })
      clock.after(retryMs, () => lookAgain(pool))
      return undefined
    }
  }

  /** A suspect for this process, which runs nothing else; `mine` is false when it is about to leave. */
  async suspect(pools: string[]): Promise<{ claim: Claim; mine: boolean } | undefined> {
    const { database, gate, worker, admit } = this.#options
    if (!(await gate.open())) return undefined
    return gate.pass(
      () => claimSuspect(database, worker(), pools),
      (claim) => claim && { claim, mine: admit([claim]).length > 0 },
    )
  }
}
