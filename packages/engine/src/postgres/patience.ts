/**
 * Patience: who wants a connection for a transaction waits a moment for one that is open before another is opened.
 *
 * A new connection costs the server as much as a dozen short transactions: its process, its catalog, its plans. Where writes are short, few connections
 * carry many of them; where they are long, the moment does not matter.
 */
import type pg from 'pg'
import type { Clock } from '../support/clock.ts'

/** A few times what it takes until a new connection has ended its first transaction: those that come while it is being opened wait for it as well. */
const momentMs = 50

export class Patience {
  readonly #pool: pg.Pool
  readonly #connectionsMax: number
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  #promised = 0

  constructor(pool: pg.Pool, connectionsMax: number, clock: Clock) {
    this.#pool = pool
    this.#connectionsMax = connectionsMax
    this.#clock = clock
    pool.on('release', () => this.#waiting.shift()?.())
  }

  async connect(): Promise<pg.PoolClient> {
    const { idleCount, totalCount } = this.#pool
    if (idleCount <= this.#promised && totalCount > 0 && totalCount < this.#connectionsMax) await this.#moment()
    this.#promised++ // the pool hands it out a turn of the loop later
    return this.#pool.connect().finally(() => this.#promised--)
  }

  #moment(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(momentMs, () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        resolve()
      })
      const go = (): void => {
        timer.cancel()
        resolve()
      }
      this.#waiting.push(go)
    })
  }
}
