/**
 * Pruner: makes the ledger's days ahead and drops those past keeping.
 *
 * A day is detached concurrently and then dropped, because a plain drop would queue behind any reader and every settle behind it. Both steps
 * give up after a moment and are tried again at the next round.
 */
import type pg from 'pg'
import sql from 'sql-template-tag'
import type { Database } from '../postgres/database.ts'
import type { Clock, Timer } from '../support/clock.ts'
import type { Log } from '../support/log.ts'

export interface PrunerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly keepDays: number
  readonly term: () => number | undefined
}

const daysAhead = 7
const everyMs = 3_600_000
const lockTimeoutMs = 500
const windowsPerRound = 10_000

export class Pruner {
  readonly #options: PrunerOptions
  #timer: Timer | undefined

  constructor(options: PrunerOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer?.cancel()
    void this.runOnce().then(() => {
      this.#timer = this.#options.clock.after(everyMs, () => this.start())
    })
  }

  stop(): void {
    this.#timer?.cancel()
  }

  async runOnce(): Promise<string[]> {
    const { database, log, keepDays, term } = this.#options
    if (term() === undefined) return []
    const dropped: string[] = []
    try {
      await database.query(sql`select sluice.add_days((sluice.now() at time zone 'UTC')::date, ${daysAhead})`)
      await database.query(sql`
        delete from sluice.key_window
        where key = any(array(select key from sluice.key_window where until < sluice.now() order by until limit ${windowsPerRound} for update skip locked))`)
      const { rows } = await database.query<{ parent: string; partition: string }>(
        sql`select parent, partition from sluice.old_days(${keepDays})`,
      )
      for (const { parent, partition } of rows) {
        await this.#drop(parent, partition)
        dropped.push(partition)
      }
    } catch (error) {
      log.warn('pruning put off', { reason: String(error) })
    }
    if (dropped.length > 0) log.info('days dropped', { days: dropped })
    return dropped
  }

  async #drop(parent: string, partition: string): Promise<void> {
    const client: pg.Client = await this.#options.database.client('pruner')
    try {
      await client.query(`set lock_timeout = ${lockTimeoutMs}`)
      await client.query(
        `alter table sluice.${client.escapeIdentifier(parent)} detach partition sluice.${client.escapeIdentifier(partition)} concurrently`,
      )
      await client.query(`drop table sluice.${client.escapeIdentifier(partition)}`)
    } finally {
      await client.end()
    }
  }
}
