/**
 * Reading jobs: live ones, finished ones from the ledger, and the attempts of both.
 */
import sql, { type Sql } from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import type { StoredError } from '../support/errors.ts'
import type { JobState } from './lifecycle.ts'

export interface Job {
  readonly id: number
  readonly kind: string
  readonly pool: string
  /** Empty for the open lane. */
  readonly lane: string
  readonly owner: string | null
  readonly state: JobState
  readonly priority: number
  readonly payload: unknown
  readonly key: string | null
  readonly parent: number | null
  readonly root: number | null
  /** The run it counts for. */
  readonly run: number | null
  /** The event that brought it about, itself or through its ancestors. */
  readonly event: number | null
  readonly attempt: number
  readonly maxAttempts: number | null
  readonly crashes: number
  readonly worker: number | null
  readonly runAt: Date | null
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly cancelRequestedAt: Date | null
  readonly error: StoredError | null
  /** W3C traceparent of whoever asked for it. */
  readonly trace: string | null
}

export interface Attempt {
  readonly attempt: number
  readonly worker: number | null
  readonly startedAt: Date | null
  readonly endedAt: Date | null
  readonly outcome: 'running' | 'succeeded' | 'retry' | 'snooze' | 'failed' | 'canceled' | 'lost'
  readonly error: StoredError | null
}

const liveJobs: Sql = sql`
  select id, kind, pool, lane, owner, sluice.state_of(shelf, worker) as state, priority, payload, key, parent, root, run, event, attempt, max_attempts as "maxAttempts", crashes, worker,
         nullif(run_at, 'infinity') as "runAt", created_at as "createdAt", case when attempt > 0 then started_at end as "startedAt", null::timestamptz as "finishedAt", cancel_at as "cancelRequestedAt", error, trace
  from sluice.job`

const finishedJobs: Sql = sql`
  select id, kind, pool, lane, owner, state, priority, payload, key, parent, root, run, event, attempt, null::smallint as "maxAttempts", 0 as crashes, worker,
         null::timestamptz as "runAt", created_at as "createdAt", started_at as "startedAt", finished_at as "finishedAt",
         null::timestamptz as "cancelRequestedAt", error, trace
  from sluice.job_ledger`

export async function findJob(on: Executor, id: number): Promise<Job | undefined> {
  const { rows } = await on.query<Job>(sql`${liveJobs} where id = ${id} union all ${finishedJobs} where id = ${id}`)
  return rows[0]
}

export async function listFailed(on: Executor, page: { after: number; limit: number }): Promise<Job[]> {
  const { rows } = await on.query<Job>(
    sql`${liveJobs} where shelf = 'failed' and id > ${page.after} order by id limit ${page.limit}`,
  )
  return rows
}

/** The attempts that went wrong have rows of their own; the one under way is the job's row, the one that ended it well the ledger's. */
export async function listAttempts(on: Executor, id: number): Promise<Attempt[]> {
  const { rows } = await on.query<Attempt>(sql`
    select attempt, worker, started_at as "startedAt", ended_at as "endedAt", outcome, error from sluice.attempt where job = ${id}
    union all
    select attempt, worker, started_at, null, 'running', null from sluice.job where id = ${id} and worker is not null
    union all
    select attempt, worker, started_at, finished_at, state::text, error from sluice.job_ledger
    where id = ${id} and state in ('succeeded', 'canceled') and worker is not null
    order by "startedAt", attempt`)
  return rows
}
