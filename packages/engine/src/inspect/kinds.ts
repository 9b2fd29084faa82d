/**
 * Kinds as the database knows them: what processes registered, who subscribes to what, and whether somebody is there to run them.
 */
import sql from 'sql-template-tag'
import type { DedupeMode } from '../job/request.ts'
import type { Executor } from '../postgres/client.ts'

export interface SeenKind {
  readonly name: string
  readonly pool: string
  readonly priority: number
  readonly maxAttempts: number
  readonly dedupe: DedupeMode | null
  /** `{owner}` stands for the owner of the job. */
  readonly lane: string | null
  readonly cost: number
  readonly registeredAt: Date
  /** Events it gets. */
  readonly on: readonly string[]
  /** Processes that are alive and can run it. */
  readonly workers: number
  readonly paused: { readonly reason: string | null; readonly since: Date } | null
}

const kindsMax = 10_000

export async function listKinds(on: Executor): Promise<SeenKind[]> {
  const { rows } = await on.query<SeenKind & { pausedSince: Date | null; pausedReason: string | null }>(sql`
    select k.name, k.pool, k.priority, k.max_attempts as "maxAttempts", k.dedupe, k.lane, k.cost, k.registered_at as "registeredAt",
           array(select s.event from sluice.subscription s where s.kind = k.name order by s.event) as "on",
           (select count(*)::int from sluice.worker w where w.lease_until > sluice.now() and k.name = any(w.kinds) and w.pools ? k.pool) as workers,
           p.since as "pausedSince", p.reason as "pausedReason"
    from sluice.kind k
    left join sluice.pause p on p.scope = 'kind' and p.name = k.name
    order by k.name
    limit ${kindsMax}`)
  return rows.map(({ pausedSince, pausedReason, ...kind }) => ({
    ...kind,
    paused: pausedSince && { reason: pausedReason, since: pausedSince },
  }))
}
