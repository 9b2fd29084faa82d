/**
 * Kept connections: a pool whose connections stay in hand between calls.
 *
 * To ask a pool for a connection and to give it back takes longer than to send the statement. Here the one used last is taken at once; the pool is asked when
 * none is in hand, and gets one back when somebody waits for it. A connection that breaks meanwhile is let go, and the next call opens another.
 * Where connections pipeline, a call may follow another before that is answered (docs/adr/0019).
 */
import type pg from 'pg'
import { type Clock, systemClock, type Timer } from '../support/clock.ts'
import { type AnswerLimit, cut } from './answers.ts'

export interface KeptOptions {
  /** A connection broke while nobody used it. */
  readonly onLost: (error: Error) => void
  /** Default: for ever. */
  readonly answers?: AnswerLimit | undefined
  /** How many calls one connection carries at once, each sent before the one ahead of it is answered. More than 1 only on connections that pipeline. Default 1. */
  readonly callsMax?: number
}

interface Use {
  calls: number
  /** Since when the first of them waits. */
  sinceMs: number
  trouble?: unknown
}

/** A call that takes longer than this waits for somebody, and none is sent behind it. */
const promptMs = 10

export class KeptConnections {
  readonly #pool: pg.Pool
  readonly #limitMs: number | undefined
  readonly #clock: Clock
  readonly #callsMax: number
  readonly #inHand: pg.PoolClient[] = []
  /** The one that waits longest first. */
  readonly #inUse = new Map<pg.PoolClient, Use>()
  #watch: Timer | undefined

  constructor(pool: pg.Pool, { onLost, answers, callsMax = 1 }: KeptOptions) {
    this.#pool = pool
    this.#limitMs = answers?.limitMs
    this.#clock = answers?.clock ?? systemClock
    this.#callsMax = callsMax
    pool.on('connect', (client) => {
      const drop = (error: Error): void => {
        const at = this.#inHand.indexOf(client)
        if (at < 0) return
        this.#inHand.splice(at, 1)
        onLost(error)
        client.release(error)
      }
      client.on('error', drop)
      client.once('end', () => drop(new Error('Connection terminated')))
    })
  }

  /** One that is in hand, without waiting even for a promise; or else the promise of one. Whoever takes it gives it back. */
  take(): pg.PoolClient | Promise<pg.PoolClient> {
    const shared = this.#callsMax > 1 ? this.#share() : undefined
    if (shared) return shared
    const client = this.#inHand.pop()
    return client ? this.#note(client) : this.#pool.connect().then((client) => this.#note(client))
  }

  /** Of calls that go out together one may fail by itself: the connection is let go when the last of them is over. */
  giveBack(client: pg.PoolClient, error?: unknown): void {
    const use = this.#inUse.get(client)
    if (use && error !== undefined) use.trouble = error
    this.#inUse.delete(client)
    if (use && --use.calls > 0) this.#inUse.set(client, Object.assign(use, { sinceMs: this.#clock.monotonic() }))
    else if (use?.trouble !== undefined) client.release(use.trouble as Error)
    else if (this.#pool.waitingCount > 0 || this.#pool.ending) client.release()
    else this.#inHand.push(client)
  }

  async end(): Promise<void> {
    for (const client of this.#inHand.splice(0)) client.release()
    await this.#pool.end()
    this.#watch?.cancel()
  }

  /** One whose call is about to be answered: the server begins with the next while the callers of the last go on. */
  #share(): pg.PoolClient | undefined {
    for (const [client, use] of this.#inUse) {
      if (use.calls >= this.#callsMax || use.trouble !== undefined || this.#clock.monotonic() - use.sinceMs > promptMs) continue
      use.calls++
      return client
    }
    return undefined
  }

  #note(client: pg.PoolClient): pg.PoolClient {
    this.#inUse.set(client, { calls: 1, sinceMs: this.#clock.monotonic() })
    const limitMs = this.#limitMs
    if (limitMs !== undefined) this.#watch ??= this.#clock.after(limitMs, () => this.#cutSilent(limitMs))
    return client
  }

  /** One timer for all calls, for almost all of them end long before it is due; it comes again when the next one would be too late. */
  #cutSilent(limitMs: number): void {
    this.#watch = undefined
    for (const [client, { sinceMs }] of this.#inUse) {
      const leftMs = sinceMs + limitMs - this.#clock.monotonic()
      if (leftMs > 1) {
        this.#watch = this.#clock.after(leftMs, () => this.#cutSilent(limitMs))
        return
      }
      cut(client)
    }
  }
}
