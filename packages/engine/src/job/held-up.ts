/**
 * Held up: enqueues whose key is in somebody's hand, as in a transaction that a person keeps open.
 *
 * They wait on connections of the pool, a few at a time and in turns: whose time is up goes to the end of the line. So neither do they take all the
 * connections, nor does one whose key will not be free for an hour keep the others from theirs.
 */
import { sqlState } from '../postgres/transient.ts'
import { SluiceError } from '../support/errors.ts'
import { type Enqueued, lockTaken } from './enqueue.ts'
import type { EncodedRequest } from './request.ts'

export interface HeldUpOptions {
  readonly atOnceMax: number
  /** How long one waits in its first turn; twice as long in each that follows, up to the other. */
  readonly waitMsMin: number
  readonly waitMsMax: number
}

interface Waiter {
  readonly requests: readonly EncodedRequest[]
  readonly waitMs: number
  readonly resolve: (enqueued: Enqueued[]) => void
  readonly reject: (error: unknown) => void
}

/** Fails with `lockTaken` when the time is up. */
type Send = (requests: readonly EncodedRequest[], waitMs: number) => Promise<Enqueued[]>

export class HeldUp {
  readonly #send: Send
  readonly #options: HeldUpOptions
  readonly #line: Waiter[] = []
  #underWay = 0
  #stopped = false

  constructor(send: Send, options: HeldUpOptions) {
    this.#send = send
    this.#options = options
  }

  add(requests: readonly EncodedRequest[]): Promise<Enqueued[]> {
    return new Promise((resolve, reject) => {
      this.#put({ requests, waitMs: this.#options.waitMsMin, resolve, reject })
      this.#next()
    })
  }

  /** Nobody waits any more: who has a turn has it to its end. */
  stop(): void {
    this.#stopped = true
    for (const waiter of this.#line.splice(0)) this.#put(waiter)
  }

  #put(waiter: Waiter): void {
    if (this.#stopped) waiter.reject(new SluiceError('ENGINE_STOPPED'))
    else this.#line.push(waiter)
  }

  #next(): void {
    if (this.#underWay >= this.#options.atOnceMax) return
    const waiter = this.#line.shift()
    if (!waiter) return
    this.#underWay++
    void this.#send(waiter.requests, waiter.waitMs)
      .then(waiter.resolve, (error: unknown) => {
        if (sqlState(error) !== lockTaken) waiter.reject(error)
        else this.#put({ ...waiter, waitMs: Math.min(waiter.waitMs * 2, this.#options.waitMsMax) })
      })
      .finally(() => {
        this.#underWay--
        this.#next()
      })
  }
}
