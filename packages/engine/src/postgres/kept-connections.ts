/**
 * Kept connections: a pool whose connections stay in hand between calls.
 *
 * To ask a pool for a connection and to give it back takes longer than to send the statement. Here the one used last is taken at once; the pool is asked when
 * none is in hand, and gets one back when somebody waits for it. A connection that breaks meanwhile is let go, and the next call opens another.
 */
import type { Duplex } from 'node:stream'
import type pg from 'pg'

export interface KeptOptions {
  /** A connection broke while nobody used it. */
  readonly onLost: (error: Error) => void
  /** A connection that leaves a call without an answer for so long is cut. Default: never. */
  readonly answerMsMax?: number | undefined
}

export class KeptConnections {
  readonly #pool: pg.Pool
  readonly #answerMsMax: number | undefined
  readonly #inHand: pg.PoolClient[] = []
  /** Since when they are used, the longest first. */
  readonly #taken = new Map<pg.PoolClient, number>()
  #watch: NodeJS.Timeout | undefined

  constructor(pool: pg.Pool, { onLost, answerMsMax }: KeptOptions) {
    this.#pool = pool
    this.#answerMsMax = answerMsMax
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
    clearTimeout(this.#watch)
  }

  #note(client: pg.PoolClient): pg.PoolClient {
    if (this.#answerMsMax === undefined) return client
    this.#taken.set(client, performance.now())
    this.#watch ??= setTimeout(this.#cutSilent, this.#answerMsMax)
    return client
  }

  /** One timer for all calls, for almost all of them end long before it is due; it comes again when the next one would be too late. */
  #cutSilent = (): void => {
    const [limitMs, nowMs] = [this.#answerMsMax ?? 0, performance.now()]
    this.#watch = undefined
    for (const [client, sinceMs] of this.#taken) {
      const leftMs = sinceMs + limitMs - nowMs
      if (leftMs > 1) {
        this.#watch = setTimeout(this.#cutSilent, leftMs)
        return
      }
      this.#taken.delete(client)
      ;(client as unknown as { connection: { stream: Duplex } }).connection.stream.destroy()
    }
  }
}
