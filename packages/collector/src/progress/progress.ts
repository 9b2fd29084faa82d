/**
 * How far a collection is, what is left of the user's quota, and when it will end.
 */
import type { Engine, Job, Run, RunProgress } from '@sluice/engine'
import sql from 'sql-template-tag'
import { laneOf } from '../request/run-names.ts'
import { expectedEnd, type LaneWork, paceOf } from './expected-end.ts'
import { findQuota, type Quota } from './quota.ts'

export interface Progress {
  readonly run: Pick<Run, 'id' | 'state' | 'trigger' | 'createdAt' | 'finishedAt' | 'error'>
  /** The plan and whatever it led to, but not the finalizer: what `kinds` add up to, as long as there are no more than 10,000. */
  readonly jobs: JobCounts
  readonly kinds: readonly KindProgress[]
  readonly quota: readonly Quota[]
  readonly remainingJobs: number
  /** Null when it has ended, and when nobody can know. */
  readonly expectedEnd: Date | null
}

export interface JobCounts {
  /** Known so far; walks find more as they go. */
  readonly total: number
  /** Ended, and not failed. */
  readonly done: number
  readonly failed: number
}

export interface KindProgress extends JobCounts {
  readonly kind: string
}

interface Waiting {
  readonly now: Date
  /** Empty for the open lane. */
  readonly lane: string
  readonly jobs: number
  readonly units: number
}

/** What GitHub gives an account for an hour, where nobody has said otherwise. */
const usualLimit = 5_000
/** As many of the newest tell the pace. */
const paceJobs = 200

export async function findProgress(engine: Engine, userId: number, runId: number): Promise<Progress | undefined> {
  // First, so that whatever it counts as done is no longer counted as waiting by what is read after it.
  const seen = await engine.inspect.runProgress(runId)
  if (!seen) return undefined
  const [quota, ended, waiting] = await Promise.all([
    findQuota(engine, userId),
    engine.inspect.jobs({ run: runId, state: 'succeeded' }, { limit: paceJobs }),
    findWaiting(engine, runId),
  ])
  const { run } = seen
  const { id, state, trigger, createdAt, finishedAt, error } = run
  return {
    run: { id, state, trigger, createdAt, finishedAt, error },
    jobs: { total: run.total, done: run.succeeded + run.canceled, failed: run.failed },
    kinds: seen.kinds.map(countKind),
    quota,
    remainingJobs: run.pending,
    expectedEnd: finishedAt ? null : expectRunEnd({ userId, quota, waiting, ended: ended.items }),
  }
}

interface Outset {
  readonly userId: number
  readonly quota: readonly Quota[]
  readonly waiting: readonly Waiting[]
  readonly ended: readonly Job[]
}

function expectRunEnd({ userId, quota, waiting, ended }: Outset): Date | null {
  const now = waiting[0]?.now
  if (!now) return null
  const work = quota.map((of): LaneWork => {
    const name = laneOf(userId, of.resource)
    const units = waiting.find(({ lane }) => lane === name)?.units ?? 0
    const limit = of.limit ?? Math.max(usualLimit, of.remaining ?? 0)
    return { ...of, limit, units, paused: of.paused !== null }
  })
  const laned = new Set(quota.map(({ resource }) => laneOf(userId, resource)))
  const openJobs = waiting.filter(({ lane }) => !laned.has(lane)).reduce((sum, { jobs }) => sum + jobs, 0)
  const perSecond = paceOf(ended.flatMap(({ finishedAt }) => finishedAt ?? []))
  return expectedEnd({ now, lanes: work, openJobs, perSecond })
}

/** What the run still has to do, by lane. */
async function findWaiting(engine: Engine, run: number): Promise<Waiting[]> {
  const { rows } = await engine.query<Waiting>(sql`
    select sluice.now() as now, j.lane, count(*)::integer as jobs, sum(j.cost)::integer as units
    from sluice.job j
    where j.run = ${run} and j.shelf is distinct from 'failed'
    group by j.lane
    order by j.lane`)
  return rows
}

function countKind({ kind, states }: RunProgress['kinds'][number]): KindProgress {
  const total = Object.values(states).reduce((sum, jobs) => sum + jobs, 0)
  return { kind, total, done: (states.succeeded ?? 0) + (states.canceled ?? 0), failed: states.failed ?? 0 }
}
