/**
 * Schedules as the database knows them: stored, read, paused, resumed, removed, run by hand.
 *
 * Whoever writes an expression writes its next fire with it, so that what is missed before a leader comes is known to be missed. The time for
 * that is the database's. A row that changes in between is read again.
 */
import sql, { type Sql } from 'sql-template-tag'
import type { Enqueued } from '../job/enqueue.ts'
import { withDays } from '../job/missing-day.ts'
import type { EncodedRequest } from '../job/request.ts'
import type { Executor } from '../postgres/client.ts'
import { SluiceError, type StoredError, storeError } from '../support/errors.ts'
import { parseCron } from './cron.ts'
import type { CatchUp, Overlap } from './plan.ts'
import type { Schedule } from './schedule.ts'

export interface StoredSchedule {
  readonly name: string
  readonly kind: string
  readonly payload: unknown
  /** Options of its jobs, as `sluice.enqueue_many` takes them. */
  readonly options: Readonly<Record<string, unknown>>
  readonly cron: string
  readonly zone: string
  readonly overlap: Overlap
  readonly catchUp: CatchUp
  readonly deadlineMs: number | null
  readonly jitterMs: number
  readonly pausedAt: Date | null
  readonly pausedReason: string | null
  /** None while an error stands in the way, or until the leader has seen a change by hand. */
  readonly nextAt: Date | null
  readonly lastAt: Date | null
  readonly lastJob: number | null
  readonly fired: number
  /** Fires that got no job: missed, or kept back by `overlap`. */
  readonly skipped: number
  readonly error: StoredError | null
  readonly version: number
}

const schedules: Sql = sql`
  select name, kind, payload, options, cron, zone, overlap, catch_up as "catchUp", deadline_ms as "deadlineMs", jitter_ms as "jitterMs",
         paused_at as "pausedAt", paused_reason as "pausedReason", next_at as "nextAt", last_at as "lastAt", last_job as "lastJob", fired, skipped,
         error, version
  from sluice.schedule`

export async function listSchedules(on: Executor): Promise<StoredSchedule[]> {
  const { rows } = await on.query<StoredSchedule>(sql`${schedules} order by name`)
  return rows
}

export async function findSchedule(on: Executor, name: string): Promise<StoredSchedule | undefined> {
  const { rows } = await on.query<StoredSchedule>(sql`${schedules} where name = ${name}`)
  return rows[0]
}

/** A definition that says the same as the row leaves it alone: its next fire stays, however often processes start. */
export async function storeSchedule(on: Executor, schedule: Schedule, job: EncodedRequest): Promise<void> {
  const { name, cron, zone, overlap, catchUp, deadlineMs, jitterMs } = schedule
  const nextAt = new Date(parseCron(cron, zone).next(await databaseNow(on)))
  const options = `{${job.fields.slice(1)}}`
  await on.query(sql`
    insert into sluice.schedule as s (name, kind, payload, options, cron, zone, overlap, catch_up, deadline_ms, jitter_ms, next_at)
    values (${name}, ${job.kind}, ${job.payload}::jsonb, ${options}::jsonb, ${cron}, ${zone}, ${overlap}, ${catchUp}, ${deadlineMs ?? null},
            ${jitterMs}, ${nextAt.toISOString()})
    on conflict (name) do update
    set kind = excluded.kind, payload = excluded.payload, options = excluded.options, cron = excluded.cron, zone = excluded.zone,
        overlap = excluded.overlap, catch_up = excluded.catch_up, deadline_ms = excluded.deadline_ms, jitter_ms = excluded.jitter_ms,
        next_at = case when (s.cron, s.zone) = (excluded.cron, excluded.zone) and s.next_at is not null then s.next_at else excluded.next_at end,
        error = case when (s.cron, s.zone) = (excluded.cron, excluded.zone) and s.next_at is not null then s.error end
    where s.next_at is null
      or (s.kind, s.payload, s.options, s.cron, s.zone, s.overlap, s.catch_up, s.deadline_ms, s.jitter_ms)
        is distinct from (excluded.kind, excluded.payload, excluded.options, excluded.cron, excluded.zone, excluded.overlap, excluded.catch_up,
                          excluded.deadline_ms, excluded.jitter_ms)`)
}

export async function removeSchedule(on: Executor, name: string): Promise<boolean> {
  const { rows } = await on.query(sql`delete from sluice.schedule where name = ${name} returning 1`)
  return rows.length > 0
}

export async function pauseSchedule(on: Executor, name: string, reason: string | undefined): Promise<void> {
  const { rows } = await on.query(sql`
    update sluice.schedule set paused_at = coalesce(paused_at, sluice.now()), paused_reason = ${reason ?? null}
    where name = ${name}
    returning 1`)
  if (rows.length === 0) throw new SluiceError('UNKNOWN_SCHEDULE', { name })
}

/** It goes on with the next fire from now; those that fell into the pause were not missed but left out on purpose. */
export async function resumeSchedule(on: Executor, name: string): Promise<boolean> {
  for (;;) {
    const row = await findSchedule(on, name)
    if (!row) throw new SluiceError('UNKNOWN_SCHEDULE', { name })
    if (row.pausedAt === null) return false
    const { nextAt, error } = nextOf(row, await databaseNow(on))
    const { rows } = await on.query(sql`
      update sluice.schedule
      set paused_at = null, paused_reason = null, next_at = ${nextAt?.toISOString() ?? null}, error = ${error && JSON.stringify(error)}::jsonb
      where name = ${name} and version = ${row.version}
      returning 1`)
    if (rows.length > 0) return true
  }
}

export async function runSchedule(on: Executor, name: string): Promise<Enqueued> {
  const { rows } = await withDays(on, () => on.query<Enqueued>(sql`select id, created from sluice.run_schedule(${name})`))
  if (!rows[0]) throw new SluiceError('UNKNOWN_SCHEDULE', { name })
  return rows[0]
}

async function databaseNow(on: Executor): Promise<number> {
  const { rows } = await on.query<{ ms: number }>(sql`select date_part('epoch', sluice.now()) * 1000 as ms`)
  return rows[0]?.ms ?? 0
}

function nextOf({ cron, zone }: StoredSchedule, nowMs: number): { nextAt: Date | null; error: StoredError | null } {
  try {
    return { nextAt: new Date(parseCron(cron, zone).next(nowMs)), error: null }
  } catch (error) {
    return { nextAt: null, error: describeTrouble(error) }
  }
}

/** What a person needs to mend a schedule. Where in our code it was noticed does not help them. */
export function describeTrouble(error: unknown): StoredError {
  const { message, code } = storeError(error)
  return { message, ...(code === undefined ? {} : { code }) }
}
