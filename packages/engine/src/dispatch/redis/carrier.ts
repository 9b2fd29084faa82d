/**
 * Carrier: brings ids and copies of lanes from PostgreSQL to Redis.
 *
 * Whatever it brings may be there already: offer.lua keeps what it knows, and a copy replaces an older one. So everybody may carry: the process that
 * stored a job, the one that ended one, and the leader of a pool, who brings what nobody else did.
 */
import type { Database } from '../../postgres/database.ts'
import { laneCopies, type Offered, offersIn, offersInLanes, offersOf } from './claim-ids.ts'
import type { Client } from './connection.ts'
import { classOf } from './keys.ts'
import { runScript } from './scripts.ts'

export interface CarrierOptions {
  readonly database: Database
  readonly client: () => Client
  readonly prefix: (pool: string) => string
  /** By the clock of this process; Redis has its own, and PostgreSQL decides. */
  readonly nowMs: () => number
}

/** So many ids of a pool are kept in Redis at most; the rest is brought when these are gone. */
const knownMax = 100_000
const chunk = 1_000
const front = { batch: 5_000, lanesMax: 500, laneBatch: 500 }
/** Of a single lane that was asked for. PostgreSQL is asked again when half of them are left. */
const laneBatch = 1_000
/** What falls due later than that is left to PostgreSQL, which makes it ready at its time. */
const horizonMs = 600_000

export class Carrier {
  readonly #options: CarrierOptions

  constructor(options: CarrierOptions) {
    this.#options = options
  }

  /** Jobs that somebody just stored or put back, by their ids. */
  async bring(ids: readonly number[]): Promise<void> {
    for (let at = 0; at < ids.length; at += chunk) {
      const jobs = await offersOf(this.#options.database, ids.slice(at, at + chunk))
      for (const pool of new Set(jobs.map((job) => job.pool)))
        await this.ask(
          pool,
          await this.offer(
            pool,
            jobs.filter((job) => job.pool === pool),
          ),
        )
    }
  }

  /** Answers the lanes that have to be asked for. */
  async offer(pool: string, jobs: readonly Offered[]): Promise<string[]> {
    const { client, prefix, nowMs } = this.#options
    const near = jobs.filter(({ dueMs = 0 }) => dueMs < horizonMs)
    const lanes = new Set<string>()
    for (let at = 0; at < near.length; at += chunk) {
      const rows = near
        .slice(at, at + chunk)
        .flatMap(({ id, priority, cost, rank, kind, lane, dueMs = 0 }) => [
          id,
          classOf(lane, priority),
          cost,
          rank,
          kind,
          lane,
          dueMs > 0 ? Math.ceil(nowMs() + dueMs) : '',
        ])
      const [unknown] = await runScript<[string[], number]>(client(), 'offer', prefix(pool), [knownMax, ...rows])
      for (const lane of unknown) lanes.add(lane)
    }
    return [...lanes]
  }

  /** Looks at single lanes: what waits in them, and what they may do. */
  async ask(pool: string, lanes: readonly string[]): Promise<void> {
    if (lanes.length === 0) return
    const jobs = await offersInLanes(this.#options.database, pool, lanes, laneBatch)
    const dry = [...(await this.offer(pool, jobs)), ...(await this.#copy(pool, lanes, jobs, laneBatch))]
    await this.ask(
      pool,
      [...new Set(dry)].filter((lane) => !lanes.includes(lane)),
    )
  }

  /** The front of the pool. True when there is more behind it. */
  async refill(pool: string): Promise<boolean> {
    const { database, client, prefix } = this.#options
    const jobs = await offersIn(database, pool, front)
    const unknown = await this.offer(pool, jobs)
    const lanes = new Set(jobs.map(({ lane }) => lane))
    lanes.delete('')
    const dry = new Set([...unknown, ...(await this.#copy(pool, [...lanes], jobs, front.laneBatch))])
    await this.ask(
      pool,
      [...dry].filter((lane) => !lanes.has(lane)),
    )
    const more = jobs.filter(({ lane }) => lane === '').length === front.batch || lanes.size >= front.lanesMax / 2
    await (more ? client().set(`${prefix(pool)}more`, 1) : client().del(`${prefix(pool)}more`))
    return more
  }

  /** Answers other lanes that have to be asked for. */
  async #copy(pool: string, lanes: readonly string[], jobs: readonly Offered[], batch: number): Promise<string[]> {
    if (lanes.length === 0) return []
    const { database, client, prefix } = this.#options
    const counts = new Map<string, number>()
    for (const { lane } of jobs) counts.set(lane, (counts.get(lane) ?? 0) + 1)
    const rows = (await laneCopies(database, lanes)).flatMap((copy) => [
      ...copy,
      (counts.get(String(copy[0])) ?? 0) >= batch ? 1 : 0,
    ])
    return runScript<string[]>(client(), 'copy-lanes', prefix(pool), rows)
  }
}
