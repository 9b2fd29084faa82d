/**
 * Kept connections: a pool whose connections stay in hand between calls.
 *
 * To ask a pool for a connection and to give it back takes longer than to send the statement. Here the one used last is taken at once; the pool is asked when
 * none is in hand, and gets one back when somebody waits for it. A connection that breaks meanwhile is let go, and the next call opens another.
 */
import type pg from 'pg'
import type { Clock, Timer } from '../support/clock.ts'
import { type AnswerLimit, cut } from './answers.ts'

export interface KeptOptions {
  /** A connection broke while nobody used it. */
  readonly onLost: (error: Error) => void
  /** Default: for ever. */
  readonly answers?: AnswerLimit | undefined
}

export class KeptConnections {
  readonly #pool: pg.Pool
  readonly #answers: AnswerLimit | undefined
  readonly #inHand: pg.PoolClient[] = []
  /** Since when they are used, the longest first. */
  readonly #taken = new Map<pg.PoolClient, number>()
  #watch: Timer | undefined

  constructor(pool: pg.Pool, { onLost, answers }: KeptOptions) {
    this.#pool = pool
    this.#answers = answers
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
    const client = this.#inHand.pop()
    return client ? this.#note(client) : this.#pool.connect().then((client) => this.#note(client))
  }

  giveBack(client: pg.PoolClient, error?: unknown): void {
    this.#taken.delete(client)
    if (error !== undefined) client.release(error as Error)
    else if (this.#pool.waitingCount > 0 || this.#pool.ending) client.release()
    else this.#inHand.push(client)
  }

  async end(): Promise<void> {
    for (const client of this.#inHand.splice(0)) client.release()
    await this.#pool.end()
    this.#watch?.cancel()
  }

  #note(client: pg.PoolClient): pg.PoolClient {
    if (!this.#answers) return client
    const { clock, limitMs } = this.#answers
    this.#taken.set(client, clock.monotonic())
    this.#watch ??= clock.after(limitMs, () => this.#cutSilent(clock, limitMs))
    return client
  }

  /** One timer for all calls, for almost all of them end long before it is due; it comes again when the next one would be too late. */
  #cutSilent(clock: Clock, limitMs: number): void {
    this.#watch = undefined
    for (const [client, sinceMs] of this.#taken) {
      const leftMs = sinceMs + limitMs - clock.monotonic()
      if (leftMs > 1) {
        this.#watch = clock.after(leftMs, () => this.#cutSilent(clock, limitMs))
        return
      }
      this.#taken.delete(client)
      cut(client)
    }
  }
}
