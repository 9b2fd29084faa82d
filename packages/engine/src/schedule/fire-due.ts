/**
 * One round of the leader's duty: everything that is due is fired, or its error is stored with it.
 *
 * Each schedule is a statement of its own, which is its transaction: the job, the next fire and the count are there together or not at all, and
 * a schedule that cannot be fired never stops its neighbours. The database checks the term and that the row is still what was seen, so
 * two leaders that fire the same row at the same moment make one job.
 */
import { addDays, isMissingDay } from '../job/missing-day.ts'
import type { Database, Statement } from '../postgres/database.ts'
import { isTransient } from '../postgres/transient.ts'
import type { Log } from '../support/log.ts'
import type { Witness } from '../support/witness.ts'
import { type CatchUp, caughtUpMax, type Overlap, type Plan, planFires } from './plan.ts'
import { describeTrouble } from './schedule-store.ts'

export interface FireOptions {
  readonly database: Database
  readonly log: Log
  readonly witness?: Witness
  readonly term: () => number | undefined
  readonly onReady: (pools: readonly string[]) => void
}

export interface Round {
  readonly fired: number
  /** When the next one falls due, by the database's clock; nothing if there is none. */
  readonly nextMs: number | undefined
  readonly nowMs: number
  /** Something did not go through that will by itself. */
  readonly again: boolean
}

interface DueRow {
  readonly name: string
  readonly cron: string
  readonly zone: string
  readonly overlap: Overlap
  readonly catch_up: CatchUp
  readonly deadline_ms: number | null
  readonly jitter_ms: number
  readonly version: number
  /** As text: PostgreSQL counts microseconds and compares them. */
  readonly next_at: string | null
  readonly next_ms: number | null
}

const dueStatement: Statement = {
  name: 'sluice_due_schedules',
  text: 'select leads, now_ms, next_ms, due from sluice.due_schedules($1, $2)',
}
const fireStatement: Statement = {
  name: 'sluice_fire_schedule',
  text: 'select outcome, jobs, pools from sluice.fire_schedule($1, $2, $3, $4, $5, $6, $7, $8, $9)',
}
const batchSize = 100

/** Looks and fires until nothing is due. Answers nothing when this process does not lead. */
export async function fireDue(options: FireOptions): Promise<Round | undefined> {
  const { database, term } = options
  let fired = 0
  for (;;) {
    const current = term()
    if (current === undefined) return undefined
    const [row] = await database.send<[boolean, number, number | null, DueRow[] | null]>(database.hot, dueStatement, [
      current,
      batchSize,
    ])
    const [leads = false, nowMs = 0, nextMs, due] = row ?? []
    if (!leads) return undefined
    let again = false
    for (const one of due ?? []) {
      try {
        fired += await fireOne(one, nowMs, current, options)
      } catch (error) {
        options.log.warn('schedule not fired', { schedule: one.name, reason: String(error) })
        again = true
      }
    }
    if (!due || again) return { fired, nextMs: nextMs ?? undefined, nowMs, again }
  }
}

async function fireOne(row: DueRow, nowMs: number, term: number, options: FireOptions): Promise<number> {
  const { log } = options
  let plan: Plan
  try {
    plan = planFires(
      {
        name: row.name,
        cron: row.cron,
        zone: row.zone,
        overlap: row.overlap,
        catchUp: row.catch_up,
        deadlineMs: row.deadline_ms ?? undefined,
        jitterMs: row.jitter_ms,
        nextMs: row.next_ms ?? undefined,
      },
      nowMs,
    )
  } catch (error) {
    log.warn('schedule cannot be read', { schedule: row.name, reason: String(error) })
    await send(row, undefined, null, error, term, options)
    return 0
  }
  try {
    const jobs = await send(row, plan, plan.thenMs, undefined, term, options)
    if (plan.cut) log.warn('more fires were missed than are caught up with', { schedule: row.name, limit: caughtUpMax })
    return jobs
  } catch (error) {
    if (isTransient(error)) throw error
    // Refused: it would be refused again at once, so it waits for its next time and says why.
    log.warn('schedule refused', { schedule: row.name, reason: String(error) })
    const missed = { ...plan, fires: [], missed: plan.missed + plan.fires.length }
    await send(row, missed, plan.thenMs, error, term, options)
    return 0
  }
}

/** Answers how many jobs it enqueued. */
async function send(
  row: DueRow,
  plan: Plan | undefined,
  thenMs: number | null,
  problem: unknown,
  term: number,
  { database, witness, onReady }: FireOptions,
): Promise<number> {
  const fires = plan?.fires ?? []
  const values = [
    term,
    row.name,
    row.version,
    row.next_at,
    fires.map(({ atMs }) => new Date(atMs).toISOString()),
    fires.map(({ startMs }) => new Date(startMs).toISOString()),
    plan?.missed ?? 0,
    thenMs === null ? null : new Date(thenMs).toISOString(),
    problem === undefined ? null : JSON.stringify(describeTrouble(problem)),
  ]
  const ask = (): Promise<[string, number[] | null, string[] | null][]> => database.send(database.hot, fireStatement, values)
  // Replacing a job books it as canceled, on a day that may not be there yet.
  const [answer] = await ask().catch(async (error: unknown) => {
    if (!isMissingDay(error)) throw error
    await addDays(database)
    return ask()
  })
  const [outcome, jobs, pools] = answer ?? []
  if (pools && pools.length > 0) onReady(pools)
  const made = jobs?.length ?? 0
  const missed = (plan?.missed ?? 0) + (outcome === 'held' ? fires.length : 0)
  if (outcome !== 'stale' && made + missed > 0) witness?.tell({ type: 'schedule.fired', schedule: row.name, jobs: made, missed })
  return made
}
