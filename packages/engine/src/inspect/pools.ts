/**
 * Pools: who works for them, how much waits, and how long the next in line has waited.
 */
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import type { Bounded } from './bounded.ts'

export interface SeenPool {
  readonly name: string
  /** Processes that are alive and work for it, and the jobs they may run at once, together. */
  readonly workers: number
  readonly core: number
  readonly max: number
  /** As of their last beats. */
  readonly running: number
  readonly ready: Bounded
  /** The job that is next, and since when it could have run. */
  readonly next: { readonly job: number; readonly since: Date } | undefined
  readonly paused: { readonly reason: string | null; readonly since: Date } | null
}

interface PoolRow extends Omit<SeenPool, 'ready' | 'next' | 'paused'> {
  readonly ready: number
  readonly more: boolean
  readonly job: number | null
  readonly since: Date | null
  readonly pausedSince: Date | null
  readonly pausedReason: string | null
}

/** Jobs of a pool that are counted. */
const countedMax = 1_000

export async function listPools(on: Executor): Promise<SeenPool[]> {
  const { rows } = await on.query<PoolRow>(sql`
    select q.name, q.workers, coalesce(q.core, 0) as core, coalesce(q.max, 0) as max, coalesce(q.running, 0) as running, q.ready, q.more, q.job, q.since,
           p.since as "pausedSince", p.reason as "pausedReason"
    from sluice.list_pools(${countedMax}) q
    left join sluice.pause p on p.scope = 'pool' and p.name = q.name
    order by q.name`)
  return rows.map(({ ready, more, job, since, pausedSince, pausedReason, ...pool }) => ({
    ...pool,
    ready: { count: ready, more },
    next: job === null || since === null ? undefined : { job, since },
    paused: pausedSince && { reason: pausedReason, since: pausedSince },
  }))
}
