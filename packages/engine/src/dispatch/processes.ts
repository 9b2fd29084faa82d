/**
 * Which process has its jobs from where: each that was given a Redis says so in its row, so that anybody can tell from the database whether Redis is in use and
 * since when it is away.
 */
import type { Database } from '../postgres/database.ts'
import type { Log } from '../support/log.ts'
import type { DispatchStatus, PoolInDispatch } from './dispatcher.ts'

/** A process that was given the address of a Redis. */
export interface DispatchedProcess {
  readonly worker: number
  readonly name: string
  readonly by: 'postgres' | 'redis'
  readonly instead: string | undefined
  readonly since: Date
}

/** The whole, as somebody who asks sees it. */
export interface Dispatch extends DispatchStatus {
  readonly processes: readonly DispatchedProcess[]
  /** Nothing where Redis does not answer, or none is asked. */
  readonly pools: readonly PoolInDispatch[]
}

type Row = [worker: number, name: string, by: 'postgres' | 'redis', instead: string | null, sinceMs: number]

export async function readDispatched(database: Database): Promise<DispatchedProcess[]> {
  const statement = {
    name: 'sluice_dispatched',
    text: `select w.id, w.name, w.dispatch ->> 'by', w.dispatch ->> 'instead', (w.dispatch ->> 'sinceMs')::double precision
           from sluice.worker w where w.dispatch is not null and w.lease_until > sluice.now() order by w.id`,
  }
  const rows = await database.send<Row>(database.hot, statement, [])
  return rows.map(([worker, name, by, instead, sinceMs]) => ({
    worker,
    name,
    by,
    instead: instead ?? undefined,
    since: new Date(sinceMs),
  }))
}

/** What the row of this process says, kept in step. */
export class Notice {
  readonly #database: Database
  readonly #log: Log
  #worker = 0
  #said = ''
  /** One after the other: what is said last counts. */
  #saying: Promise<void> = Promise.resolve()

  constructor(database: Database, log: Log) {
    this.#database = database
    this.#log = log
  }

  /** Everything has been said. */
  get done(): Promise<void> {
    return this.#saying
  }

  /** What could not be written is written when it is put up again: with the next heartbeat. */
  put({ by, instead, since }: DispatchStatus, worker = this.#worker): Promise<void> {
    this.#worker = worker
    const words = `${worker} ${by} ${since?.getTime()}`
    if (worker === 0) return this.#saying
    this.#saying = this.#saying.then(async () => {
      if (words === this.#said) return
      const statement = { name: 'sluice_say_dispatched', text: 'update sluice.worker w set dispatch = $2 where w.id = $1' }
      const said = JSON.stringify({ by, instead, sinceMs: since?.getTime() })
      try {
        await this.#database.send(this.#database.hot, statement, [worker, said])
        this.#said = words
      } catch (error) {
        this.#log.warn('who dispatches was not written down', { reason: String(error) })
      }
    })
    return this.#saying
  }
}
