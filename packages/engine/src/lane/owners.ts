/**
 * Owners with limits of their own: a cap, a hold or a pause spans all of their lanes, and their jobs that name no lane.
 */
import sql from 'sql-template-tag'
import { type Executor } from '../postgres/client.ts'
import { type Clock } from '../support/clock.ts'
import { SluiceError } from '../support/errors.ts'
import { changeOwner } from './change.ts'
import { checkHold, checkName } from './lanes.ts'

export interface Owner {
  readonly name: string
  readonly cap: number | null
  readonly holdUntil: Date | null
  /** The reason. */
  readonly paused: string | null
  readonly inFlight: number
}

export class Owners {
  readonly #on: () => Promise<Executor>
  readonly #clock: Clock

  constructor(on: () => Promise<Executor>, clock: Clock) {
    this.#on = on
    this.#clock = clock
  }

  /** Jobs that run at once in all lanes of the owner; null lifts the limit. */
  async set(name: string, { cap }: { cap: number | null }): Promise<void> {
    if (cap !== null && !(Number.isInteger(cap) && cap > 0 && cap <= 1_000_000))
      throw new SluiceError('INVALID_OPTION', { field: 'cap', problem: 'is no whole number from 1 on' })
    await this.#change(name, { cap })
  }

  /** Nothing of the owner starts before this time. With `atLeast` a hold that ends later stays: what servers say may arrive in any order. */
  async hold(name: string, until: Date, { atLeast = false }: { atLeast?: boolean } = {}): Promise<void> {
    const time = checkHold(until, this.#clock).toISOString()
    await this.#change(name, atLeast ? { hold_at_least: time } : { hold_until: time })
  }

  /** The next claim of every process leaves its jobs alone. Jobs that run go on. */
  async pause(name: string, reason = 'paused'): Promise<void> {
    await this.#change(name, { paused: reason })
  }

  async resume(name: string): Promise<void> {
    await this.#change(name, { paused: null })
  }

  async find(name: string): Promise<Owner | undefined> {
    const on = await this.#on()
    const { rows } = await on.query<Owner>(sql`
      select o.name, o.cap, o.hold_until as "holdUntil", o.paused,
             coalesce((select sum(l.in_flight) from sluice.lane l where l.owner = o.name), 0)::int as "inFlight"
      from sluice.owner o where o.name = ${name}`)
    return rows[0]
  }

  async #change(name: string, change: object): Promise<void> {
    checkName('owner', name)
    await changeOwner(await this.#on(), name, change)
  }
}
