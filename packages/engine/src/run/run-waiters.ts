/**
 * Run waiters: who waits in this process for the end of a run.
 *
 * The end of a run is told on the channel by the transaction that brings it about, whichever process that is. Whoever waits looks at once, at each word about
 * the run, and now and then in case a word got lost; more often where none can be heard, as in a process that is not started.
 */
import { isTransient } from '../postgres/transient.ts'
import type { Clock } from '../support/clock.ts'
import { SluiceError } from '../support/errors.ts'
import { readRunEnd } from './run-end.ts'

export interface RunWaitersOptions {
  readonly clock: Clock
  /** Whether words on the channel arrive. */
  readonly hears: () => boolean
}

const hearingLookMs = 10_000
const deafLookMs = 1_000

export class RunWaiters {
  readonly #options: RunWaitersOptions
  readonly #waiting = new Map<number, Set<() => void>>()
  #stopped = false

  constructor(options: RunWaitersOptions) {
    this.#options = options
  }

  /** A word on the channel that a run has ended. */
  hear(message: string): void {
    if (this.#waiting.size === 0) return
    const ended = readRunEnd(message)
    if (!ended)
      this.lookAgain() // in words of another version
    else for (const look of this.#waiting.get(ended.run) ?? []) look()
  }

  /** Words may have been missed. */
  lookAgain(): void {
    for (const looks of this.#waiting.values()) for (const look of looks) look()
  }

  stop(): void {
    this.#stopped = true
    this.lookAgain()
  }

  /** What `look` sees, as soon as it sees something. A database that is away for a moment is waited for. */
  async seen<T>(run: number, look: () => Promise<T | undefined>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      signal?.throwIfAborted()
      if (this.#stopped) throw new SluiceError('ENGINE_STOPPED')
      const word = this.#listen(run, signal) // before the look, so that nothing is missed between the two
      try {
        const looked = look().catch((error: unknown) => {
          if (!isTransient(error)) throw error
          return undefined
        })
        looked.catch(() => {}) // a look that a word or the end of the engine overtook has nobody to tell
        const found = await Promise.race([looked, word.came])
        if (found !== undefined) return found
        await word.came
      } finally {
        word.forget()
      }
    }
  }

  #listen(run: number, signal: AbortSignal | undefined): { came: Promise<void>; forget: () => void } {
    const { clock, hears } = this.#options
    let look = (): void => {}
    const came = new Promise<void>((resolve) => {
      look = resolve
    })
    const looks = this.#waiting.get(run) ?? new Set()
    this.#waiting.set(run, looks.add(look))
    const timer = clock.after(hears() ? hearingLookMs : deafLookMs, look)
    signal?.addEventListener('abort', look)
    const forget = (): void => {
      timer.cancel()
      signal?.removeEventListener('abort', look)
      looks.delete(look)
      if (looks.size === 0) this.#waiting.delete(run)
    }
    return { came, forget }
  }
}
