/**
 * Lanes, as people look at them and steer them. Each change is one row, however many jobs wait behind it, and every claim of every process
 * obeys it from the moment it commits.
 */
import sql, { empty, type Sql } from 'sql-template-tag'
import { type Executor } from '../postgres/client.ts'
import { type Clock } from '../support/clock.ts'
import { SluiceError } from '../support/errors.ts'
import type { Observer } from '../support/fact.ts'
import { checkFields } from '../support/issue.ts'
import { nameField } from '../support/text.ts'
import { type BudgetReport, checkReport } from './budget-report.ts'
import { changeLane, syncLane } from './change.ts'
import { encodeLimits, type LaneLimits } from './limits.ts'

export interface Lane {
  readonly name: string
  readonly owner: string | null
  readonly weight: number
  readonly cap: number | null
  readonly metered: boolean
  readonly floor: number
  /** Permits that may still be given, the floor included; null while nothing is known. */
  readonly remaining: number | null
  /** The most a window holds, where somebody said. */
  readonly limit: number | null
  readonly resetAt: Date | null
  readonly holdUntil: Date | null
  /** The reason. */
  readonly paused: string | null
  readonly failures: number
  readonly brokenUntil: Date | null
  readonly inFlight: number
  /** Nothing of it is claimed until it opens. */
  readonly closed: boolean
  readonly opensAt: Date | null
}

/** For a `l` that is a row of the table or of a list of lanes, and its owner `o`. */
export const laneColumns = sql`
  (l).key as name, (l).owner, (l).weight, (l).cap, (l).metered, (l).budget_floor as floor, case when (l).reset_at > sluice.now() then (l).remaining end as remaining,
  (l).budget_limit as limit, (l).reset_at as "resetAt", (l).hold_until as "holdUntil", (l).paused, (l).failures, (l).broken_until as "brokenUntil", (l).in_flight as "inFlight", (l).opens_at as "opensAt",
  sluice.room(l, o, sluice.now()) < 1 or sluice.permits(l, sluice.now()) < 1 as closed`

export class Lanes {
  readonly #on: () => Promise<Executor>
  readonly #clock: Clock
  readonly #tell: Observer | undefined

  constructor(on: () => Promise<Executor>, clock: Clock, tell?: Observer) {
    this.#on = on
    this.#clock = clock
    this.#tell = tell
  }

  /** Limits of one lane, instead of those of its pattern. What is left out stays as it is. */
  async set(name: string, limits: LaneLimits & { owner?: string }): Promise<void> {
    const { owner, ...rest } = limits
    await this.#change(name, { ...encodeLimits(name, rest), ...(owner === undefined ? {} : { owner }) })
  }

  async find(name: string): Promise<Lane | undefined> {
    const [lane] = await this.#list(sql`where l.key = ${name}`)
    return lane
  }

  async list({ owner, after = '', limit = 100 }: { owner?: string; after?: string; limit?: number } = {}): Promise<Lane[]> {
    const ofOwner = owner === undefined ? empty : sql`and l.owner = ${owner}`
    return this.#list(sql`where l.key > ${after} ${ofOwner} order by l.key limit ${limit}`)
  }

  /** Nothing starts before this time. */
  async hold(name: string, until: Date): Promise<void> {
    await this.#change(name, { hold_until: checkHold(until, this.#clock).toISOString() })
    this.#tell?.({ type: 'lane.held', lane: name, until, reason: 'by hand', job: undefined })
  }

  async pause(name: string, reason = 'paused'): Promise<void> {
    await this.#change(name, { paused: reason })
  }

  async resume(name: string): Promise<void> {
    await this.#change(name, { paused: null })
  }

  /** What a server said, from outside of a job. Handlers use `report`. */
  async sync(name: string, report: Omit<BudgetReport, 'refund'>): Promise<void> {
    const { remaining, limit, resetAt, holdUntil } = checkReport(report, this.#clock.now())
    const said = { lane: name, remaining, most: limit, reset_at: resetAt, hold_until: holdUntil }
    await syncLane(await this.#on(), name, said)
  }

  async #change(name: string, change: object): Promise<void> {
    checkName('lane', name)
    await changeLane(await this.#on(), name, change)
  }

  async #list(where: Sql): Promise<Lane[]> {
    const on = await this.#on()
    const { rows } = await on.query<Lane>(
      sql`select ${laneColumns} from sluice.lane l left join sluice.owner o on o.name = l.owner ${where}`,
    )
    return rows
  }
}

export function checkName(field: string, name: string): void {
  checkFields(nameField, name, field)
}

const aYearMs = 366 * 86_400_000

export function checkHold(until: Date, clock: Clock): Date {
  const aheadMs = until instanceof Date ? until.getTime() - clock.now() : Number.NaN
  if (!(aheadMs > 0 && aheadMs <= aYearMs))
    throw new SluiceError('INVALID_OPTION', {
      field: 'until',
      problem: 'is no Date that lies ahead, and not more than a year; give one, as new Date(Date.now() + 300_000)',
    })
  return until
}
