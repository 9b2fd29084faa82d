/**
 * Suspects: jobs that were held by two processes that died run again alone, so that a third death speaks for itself.
 *
 * The process lets its other jobs end first. An idle process may take the suspects meanwhile; then this one goes on with what it was doing.
 */
import type { Claim } from '../dispatch/claim.ts'
import type { Log } from '../support/log.ts'

export interface SuspectsOptions {
  readonly log: Log
  /** Hands back what waits for a slot and claims nothing more. */
  readonly makeRoom: () => void
  readonly allEnded: () => Promise<void>
  /** This process runs nothing, and is neither leaving nor in doubt. */
  readonly mayRun: () => boolean
  /** `mine` is false when it is about to leave. */
  readonly claim: () => Promise<{ claim: Claim; mine: boolean } | undefined>
  readonly run: (claim: Claim) => Promise<void>
  readonly settled: () => Promise<void>
  readonly goOn: () => void
}

export class Suspects {
  readonly #options: SuspectsOptions
  #running: Promise<void> | undefined
  #inHand = 0
  #callOff: () => void = () => {}

  constructor(options: SuspectsOptions) {
    this.#options = options
  }

  /** While this is true nothing else is claimed. */
  get alone(): boolean {
    return this.#running !== undefined
  }

  /** 1 while it runs one: no pool counts it. */
  get inHand(): number {
    return this.#inHand
  }

  run(): void {
    const { log, goOn } = this.#options
    this.#running ??= this.#runAlone()
      .catch((error: unknown) => log.warn('suspects wait', { reason: String(error) }))
      .finally(() => {
        this.#running = undefined
        goOn()
      })
  }

  callOff(): void {
    this.#callOff()
  }

  async #runAlone(): Promise<void> {
    const { makeRoom, allEnded } = this.#options
    makeRoom()
    const calledOff = new Promise<void>((resolve) => {
      this.#callOff = resolve
    })
    await Promise.race([allEnded(), calledOff])
    while (await this.#runNext());
  }

  /** Claims one and runs it to its end; false when there is none, or when it is not the time. */
  async #runNext(): Promise<boolean> {
    const { log, mayRun, claim, run, settled } = this.#options
    const found = mayRun() ? await claim() : undefined
    if (!found) return false
    const { id, kind, crashes } = found.claim
    log.warn('suspect runs alone', { job: id, kind, crashes })
    if (found.mine) {
      this.#inHand = 1
      await run(found.claim).finally(() => {
        this.#inHand = 0
      })
    }
    await settled()
    return true
  }
}
