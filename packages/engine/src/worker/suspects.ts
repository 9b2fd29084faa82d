/**
 * Suspects: jobs that were held by two processes that died run again alone, so that a third death speaks for itself.
 *
 * The process lets its other jobs end first. An idle process may take the suspects meanwhile; then this one goes on with what it was doing.
 */
import type { Log } from '../support/log.ts'

export interface SuspectsOptions {
  readonly log: Log
  /** Hands back what waits for a slot and claims nothing more. */
  readonly makeRoom: () => void
  readonly allEnded: () => Promise<void>
  /** Claims and runs one; false when there is none for this process. */
  readonly runNext: () => Promise<boolean>
  readonly goOn: () => void
}

export class Suspects {
  readonly #options: SuspectsOptions
  #running: Promise<void> | undefined
  #callOff: () => void = () => {}

  constructor(options: SuspectsOptions) {
    this.#options = options
  }

  /** While this is true nothing else is claimed. */
  get alone(): boolean {
    return this.#running !== undefined
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
    const { makeRoom, allEnded, runNext } = this.#options
    makeRoom()
    const calledOff = new Promise<void>((resolve) => {
      this.#callOff = resolve
    })
    await Promise.race([allEnded(), calledOff])
    while (await runNext());
  }
}
