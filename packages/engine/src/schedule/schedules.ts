/**
 * What people do with schedules: `engine.schedules`. Everything holds for all processes from the moment it has committed, and the leader, wherever it
 * runs, is told.
 */
import { type Enqueued, explainRefusal } from '../job/enqueue.ts'
import { encodeRequest } from '../job/request.ts'
import type { Executor } from '../postgres/client.ts'
import { SluiceError } from '../support/errors.ts'
import { upcomingFires } from './plan.ts'
import { defineSchedule, type Schedule, type ScheduleDefinition } from './schedule.ts'
import * as store from './schedule-store.ts'

/** A database that is migrated, and its limit. */
export interface Ready {
  readonly on: Executor
  readonly payloadBytesMax: number
}

export interface ShownSchedule extends store.StoredSchedule {
  /** The next fires, as the expression says them, without jitter. None while it is paused or waits for the leader or a repair. */
  readonly nextFires: readonly Date[]
}

const shownMax = 1_000

/** In the order of their names, so that two processes that start at once cannot wait for each other. */
export async function registerSchedules(
  on: Executor,
  schedules: readonly Schedule[],
  limits: { payloadBytesMax: number },
): Promise<void> {
  for (const schedule of schedules.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const job = encodeRequest(schedule.job, limits)
    await store.storeSchedule(on, schedule, job).catch((error: unknown) => {
      throw explainRefusal(error, [job])
    })
  }
}

export class Schedules {
  readonly #ready: () => Promise<Ready>
  readonly #onChange: () => void

  /** The leader may be this very process, which then need not wait for its own wake-up: that is `onChange`. */
  constructor(ready: () => Promise<Ready>, onChange: () => void) {
    this.#ready = ready
    this.#onChange = onChange
  }

  /** Stores a schedule, or changes the one of this name. One that says the same as before changes nothing, its next fire included. */
  async set(name: string, definition: ScheduleDefinition): Promise<void>
  async set(schedule: Schedule): Promise<void>
  async set(given: string | Schedule, definition?: ScheduleDefinition): Promise<void> {
    const schedule = typeof given === 'string' ? defineSchedule(given, definition as ScheduleDefinition) : given
    const { on, payloadBytesMax } = await this.#ready()
    await registerSchedules(on, [schedule], { payloadBytesMax })
    this.#onChange()
  }

  /** Answers whether there was one. Jobs that it made stay. */
  async remove(name: string): Promise<boolean> {
    return store.removeSchedule((await this.#ready()).on, name)
  }

  async list(): Promise<store.StoredSchedule[]> {
    return store.listSchedules((await this.#ready()).on)
  }

  async show(name: string, { fires = 5 }: { fires?: number } = {}): Promise<ShownSchedule> {
    if (!Number.isInteger(fires) || fires < 0 || fires > shownMax)
      throw new SluiceError('INVALID_OPTION', { field: 'fires', problem: `must be a whole number from 0 to ${shownMax}` })
    const { on } = await this.#ready()
    const row = await store.findSchedule(on, name)
    if (!row) throw new SluiceError('UNKNOWN_SCHEDULE', { name })
    return { ...row, nextFires: row.pausedAt || !row.nextAt ? [] : upcomingFires(row, row.nextAt, fires) }
  }

  async pause(name: string, reason?: string): Promise<void> {
    await store.pauseSchedule((await this.#ready()).on, name, reason)
  }

  /** Goes on with the next fire from now. Answers whether it was paused. */
  async resume(name: string): Promise<boolean> {
    const resumed = await store.resumeSchedule((await this.#ready()).on, name)
    this.#onChange()
    return resumed
  }

  /** A job at once, paused or not. Where `overlap` forbids it, `id` is the job that is still live and `created` is false. */
  async runNow(name: string): Promise<Enqueued> {
    const { on } = await this.#ready()
    return store.runSchedule(on, name).catch((error: unknown) => {
      throw explainRefusal(error, [])
    })
  }
}
