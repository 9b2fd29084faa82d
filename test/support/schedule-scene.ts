/**
 * A leader and its clock, for tests of schedules: the time of the database is set by hand, and the round that fires what is due is called by
 * hand, so that a year of downtime is one line.
 */
import { type AnyKind, type Schedule, type ScheduleDefinition, type StoredSchedule, silentLog } from '@sluice/engine'
import type pg from 'pg'
import { registerKinds } from '#engine/job/kind-store'
import { Database } from '#engine/postgres/database'
import { fireDue, type Round } from '#engine/schedule/fire-due'
import { Schedules } from '#engine/schedule/schedules'
import { test as base } from './database.ts'

export class Scene {
  readonly database: Database
  readonly schedules: Schedules
  term = 0
  readonly #sessions = new Set<pg.ClientBase>()
  #offsetMs = 0

  constructor(url: string) {
    this.database = new Database({ url, poolMax: 4, prepare: true, log: silentLog, onConnect: (client) => this.#join(client) })
    this.schedules = new Schedules(
      async () => ({ on: this.database, payloadBytesMax: 10_000 }),
      () => {},
    )
  }

  /** The time is now this, a moment more with each statement. */
  async turnTo(time: string): Promise<void> {
    this.#offsetMs = Date.parse(time) - Date.now()
    await Promise.all([...this.#sessions].map((client) => this.#turn(client)))
  }

  async define(kinds: readonly AnyKind[]): Promise<void> {
    await registerKinds(this.database, kinds)
  }

  async set(name: string, definition: ScheduleDefinition): Promise<Schedule['name']> {
    await this.schedules.set(name, definition)
    return name
  }

  /** Takes office and does the round of a leader. */
  async fire(): Promise<Round | undefined> {
    this.term = await this.lead()
    return this.fireAs(this.term)
  }

  fireAs(term: number): Promise<Round | undefined> {
    return fireDue({ database: this.database, log: silentLog, term: () => term, onReady: () => {} })
  }

  async lead(): Promise<number> {
    const { rows } = await this.database.pool.query<{ term: number }>(
      `update sluice.leader set term = term + 1, worker = 1, until = sluice.now() + interval '1 hour' returning term`,
    )
    return rows[0]!.term
  }

  /** Jobs that are there, by the time they were made for. */
  async jobs(): Promise<{ id: number; state: string; fire: string }[]> {
    const { rows } = await this.database.pool.query(
      `select id, sluice.state_of(shelf, worker) as state, coalesce(substring(key from '@(.*)$'), '') as fire from sluice.job
       union all
       select id, state, coalesce(substring(key from '@(.*)$'), '') from sluice.job_ledger
       order by id`,
    )
    return rows.map(({ id, state, fire }) => ({ id, state, fire: fire.replace(':00.000000Z', 'Z') }))
  }

  async fires(): Promise<string[]> {
    return (await this.jobs()).map(({ fire }) => fire)
  }

  show(name: string): Promise<StoredSchedule> {
    return this.schedules.show(name)
  }

  async #join(client: pg.ClientBase): Promise<void> {
    this.#sessions.add(client)
    client.once('end', () => this.#sessions.delete(client))
    await this.#turn(client)
  }

  async #turn(client: pg.ClientBase): Promise<void> {
    await client.query(`select set_config('sluice.clock_offset', $1, false)`, [`${this.#offsetMs} milliseconds`])
  }
}

export const test = base.extend<{ scene: Scene; another: Scene }>({
  scene: async ({ database }, use) => {
    const scene = new Scene(database.url)
    await use(scene)
    await scene.database.close()
  },
  /** A second process. */
  another: async ({ database }, use) => {
    const scene = new Scene(database.url)
    await use(scene)
    await scene.database.close()
  },
})
