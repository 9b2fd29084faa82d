/**
 * Pruner: makes the ledger's days ahead and drops those past keeping, with the events of that time.
 *
 * A day is detached concurrently and then dropped, because a plain drop would queue behind any reader and every settle behind it. Both steps
 * give up after a moment, and the next round goes on from whatever they left.
 */
import type pg from 'pg'
import sql, { raw } from 'sql-template-tag'
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

interface OldDay {
  readonly parent: string
  readonly partition: string
  readonly phase: 'attached' | 'pending' | 'detached'
  /** By the role of this process: only then can it be detached. */
  readonly owned: boolean
}

const daysAhead = 7
const everyMs = 3_600_000
const lockTimeoutMs = 500
const detachMsMax = 3_000
const windowsPerStatement = 10_000
const eventsPerStatement = 10_000
const runsPerStatement = 100

export class Pruner {
  readonly #options: PrunerOptions
  #timer: Timer | undefined
  #stopped = false

  constructor(options: PrunerOptions) {
    this.#options = options
  }

  start(): void {
    this.#stopped = false
    this.#timer?.cancel()
    void this.runOnce().then(() => {
      this.#timer?.cancel()
      // Stopped in the middle of a round: a timer would keep the process alive.
      if (!this.#stopped) this.#timer = this.#options.clock.after(everyMs, () => this.start())
    })
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
  }

  async runOnce(): Promise<string[]> {
    const { database, log, keepDays, term } = this.#options
    if (term() === undefined) return []
    const dropped: string[] = []
    try {
      await database.query(sql`select sluice.add_days((sluice.now() at time zone 'UTC')::date, ${daysAhead})`)
      await this.#forgetWindows()
      await this.#forget('prune_runs', runsPerStatement)
      await this.#forget('prune_events', eventsPerStatement)
      const { rows } = await database.query<OldDay>(sql`select parent, partition, phase, owned from sluice.old_days(${keepDays})`)
      for (const day of rows) {
        if (day.owned) await this.#drop(day)
        else await database.query(sql`select sluice.drop_day(${day.partition}, ${keepDays})`)
        dropped.push(day.partition)
      }
    } catch (error) {
      log.warn('pruning put off', { reason: String(error) })
    }
    if (dropped.length > 0) log.info('days dropped', { days: dropped })
    return dropped
  }

  async #forgetWindows(): Promise<void> {
    for (let gone = windowsPerStatement; gone === windowsPerStatement; ) {
      const { rows } = await this.#options.database.query(sql`
        delete from sluice.key_window
        where key = any(array(select key from sluice.key_window where until < sluice.now() order by until limit ${windowsPerStatement} for update skip locked))
        returning 1`)
      gone = rows.length
    }
  }

  async #forget(prune: 'prune_runs' | 'prune_events', batch: number): Promise<void> {
    const { database, keepDays, term } = this.#options
    for (let gone = batch; gone === batch; ) {
      const { rows } = await database.query<{ gone: number }>(
        sql`select sluice.${raw(prune)}(${term() ?? null}, ${keepDays}, ${batch}) as gone`,
      )
      gone = rows[0]?.gone ?? 0
    }
  }

  async #drop({ parent, partition, phase }: OldDay): Promise<void> {
    const { database, clock } = this.#options
    const client: pg.Client = await database.client('pruner')
    const [from, day] = [parent, partition].map((name) => `sluice.${client.escapeIdentifier(name)}`)
    // No session setting limits the wait: behind a pooler the session is somebody else's next. A detach that is left alone holds no lock while
    // it waits for readers and ends when they do.
    const late = clock.after(detachMsMax, () => void client.end().catch(() => {}))
    try {
      if (phase === 'attached') await client.query(`alter table ${from} detach partition ${day} concurrently`)
      const finalize = phase === 'pending' ? `alter table ${from} detach partition ${day} finalize;` : ''
      await client.query(`begin; set local lock_timeout = ${lockTimeoutMs}; ${finalize} drop table ${day}; commit`)
    } finally {
      late.cancel()
      await client.end()
    }
  }
}
