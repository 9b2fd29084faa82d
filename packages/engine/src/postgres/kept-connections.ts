/**
 * Kept connections: a pool whose connections stay in hand between calls.
 *
 * To ask a pool for a connection and to give it back takes longer than to send the statement. Here the one used last is taken at once; the pool is asked when
 * none is in hand, and gets one back when somebody waits for it. A connection that breaks meanwhile is let go, and the next call opens another.
 */
import type pg from 'pg'

export class KeptConnections {
  readonly #pool: pg.Pool
  readonly #inHand: pg.PoolClient[] = []

  constructor(pool: pg.Pool, onLost: (error: Error) => void) {
    this.#pool = pool
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
    return this.#inHand.pop() ?? this.#pool.connect()
  }

  giveBack(client: pg.PoolClient, error?: unknown): void {
    if (error !== undefined) client.release(error as Error)
    else if (this.#pool.waitingCount > 0 || this.#pool.ending) client.release()
    else this.#inHand.push(client)
  }

  async end(): Promise<void> {
    for (const client of this.#inHand.splice(0)) client.release()
    await this.#pool.end()
  }
}
