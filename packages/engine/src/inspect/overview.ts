/**
 * The whole on one page: how much there is to do, who works, what stands still. Everything is counted up to a limit, so that it can be asked
 * for every few seconds.
 */
import sql from 'sql-template-tag'
import type { JobState } from '../job/lifecycle.ts'
import type { Executor } from '../postgres/client.ts'
import type { RunState } from '../run/runs.ts'
import { type Bounded, nothing } from './bounded.ts'
import { type DeadLetterGroup, listDeadLetters } from './dead-letters.ts'
import { lookRowsMax } from './page.ts'
import { listPools, type SeenPool } from './pools.ts'
import { findLeader, listWorkers, type SeenLeader } from './workers.ts'

type LiveState = Exclude<JobState, 'succeeded' | 'canceled'>
type StoredRunState = Exclude<RunState, 'planning'>

export interface Overview {
  readonly at: Date
  /** Live jobs, each counted up to 10,000. With `more`, those that are ready and those that run were counted among the first 10,000 of both. */
  readonly jobs: Readonly<Record<LiveState, Bounded>>
  /** Finished jobs that are kept, as the server estimates them, and over how many days. */
  readonly ledger: { readonly about: number; readonly days: number }
  readonly runs: Readonly<Record<StoredRunState, Bounded>>
  readonly pools: readonly SeenPool[]
  /** The job that could have run for longest and does not, of those next in line. */
  readonly oldestReady: { readonly pool: string; readonly job: number; readonly since: Date } | undefined
  readonly workers: Readonly<Record<'alive' | 'stopping' | 'lost', number>>
  readonly leader: SeenLeader
  /** Among the first 5,000 by name. */
  readonly lanesClosed: Bounded
  /** The newest groups, up to ten. */
  readonly deadLetters: readonly DeadLetterGroup[]
}

const countedMax = 10_000
const closedLanesMax = 500
const groupsMax = 10

export async function readOverview(on: Executor): Promise<Overview> {
  const [clock, jobs, ledger, runs, pools, workers, leader, lanesClosed, groups] = await Promise.all([
    on.query<{ at: Date }>(sql`select sluice.now() as at`),
    countJobs(on),
    estimateLedger(on),
    countRuns(on),
    listPools(on),
    listWorkers(on),
    findLeader(on),
    countClosedLanes(on),
    listDeadLetters(on, { limit: groupsMax }),
  ])
  const alive = workers.filter(({ state }) => state === 'alive')
  const waiting = pools.flatMap(({ name, next }) => (next ? [{ pool: name, ...next }] : []))
  return {
    at: clock.rows[0]?.at as Date,
    jobs,
    ledger,
    runs,
    pools,
    oldestReady: waiting.toSorted((a, b) => a.since.getTime() - b.since.getTime())[0],
    workers: {
      alive: alive.length,
      stopping: workers.filter(({ state }) => state === 'stopping').length,
      lost: workers.filter(({ state }) => state === 'lost').length,
    },
    leader,
    lanesClosed,
    deadLetters: groups.items,
  }
}

async function countJobs(on: Executor): Promise<Record<LiveState, Bounded>> {
  const { rows } = await on.query<{ state: LiveState; jobs: number; more: boolean }>(
    sql`select state, jobs, more from sluice.count_jobs(${countedMax})`,
  )
  const none = { scheduled: nothing, ready: nothing, paused: nothing, running: nothing, failed: nothing }
  return { ...none, ...Object.fromEntries(rows.map(({ state, jobs, more }) => [state, { count: jobs, more }])) }
}

async function countRuns(on: Executor): Promise<Record<StoredRunState, Bounded>> {
  const { rows } = await on.query<{ state: StoredRunState; runs: number; more: boolean }>(
    sql`select state, runs, more from sluice.count_runs(${countedMax})`,
  )
  const none = { created: nothing, running: nothing, finalizing: nothing, completed: nothing, failed: nothing, canceled: nothing }
  return { ...none, ...Object.fromEntries(rows.map(({ state, runs, more }) => [state, { count: runs, more }])) }
}

/** From the catalog: as good as the last vacuum. */
async function estimateLedger(on: Executor): Promise<{ about: number; days: number }> {
  const { rows } = await on.query<{ about: number; days: number }>(sql`
    select coalesce(sum(greatest(c.reltuples, 0)), 0)::float8 as about, count(*) filter (where c.relpages > 0)::int as days
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'sluice.job_ledger'::regclass`)
  return rows[0] ?? { about: 0, days: 0 }
}

async function countClosedLanes(on: Executor): Promise<Bounded> {
  const { rows } = await on.query<{ closed: number; more: boolean }>(sql`
    select count(*) filter (where x.l is not null)::int as closed, bool_or(x.next is not null) as more
    from (select (y.lane).key as l, y.next from sluice.list_lanes(null, true, '', ${closedLanesMax}, ${lookRowsMax}) as y(lane, owner, looked, next)) x`)
  return { count: rows[0]?.closed ?? 0, more: rows[0]?.more ?? false }
}
