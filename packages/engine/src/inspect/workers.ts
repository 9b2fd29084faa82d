/**
 * Processes that work, and who of them leads. Few rows, all of them at once.
 */
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'

export interface SeenWorker {
  readonly id: number
  /** Host and process id. */
  readonly name: string
  /** `lost`: its lease is over; what it held goes to others. */
  readonly state: 'alive' | 'stopping' | 'lost'
  readonly leads: boolean
  readonly pools: Readonly<Record<string, { readonly core: number; readonly max: number }>>
  readonly kinds: readonly string[]
  /** Jobs that ran at the last beat, by pool. */
  readonly running: Readonly<Record<string, number>>
  readonly startedAt: Date
  readonly beatAt: Date
  readonly leaseUntil: Date | null
}

export interface SeenLeader {
  readonly term: number
  /** Undefined when nobody leads. */
  readonly worker: number | undefined
  readonly name: string | undefined
  readonly until: Date | undefined
}

const workersMax = 10_000

export async function listWorkers(on: Executor): Promise<SeenWorker[]> {
  const { rows } = await on.query<SeenWorker>(sql`
    select w.id, w.name, w.pools, w.kinds, w.running, w.started_at as "startedAt", w.beat_at as "beatAt",
           case when isfinite(w.lease_until) then w.lease_until end as "leaseUntil",
           case when w.lease_until <= sluice.now() then 'lost' when w.stopping then 'stopping' else 'alive' end as state,
           exists (select from sluice.leader l where l.worker = w.id and l.until > sluice.now()) as leads
    from sluice.worker w
    order by w.id
    limit ${workersMax}`)
  return rows
}

export async function findLeader(on: Executor): Promise<SeenLeader> {
  const { rows } = await on.query<{ term: number; leads: boolean; worker: number; name: string | null; until: Date }>(sql`
    select l.term, l.worker, w.name, l.until, l.worker is not null and l.until > sluice.now() as leads
    from sluice.leader l left join sluice.worker w on w.id = l.worker`)
  const leader = rows[0]
  if (!leader?.leads) return { term: leader?.term ?? 0, worker: undefined, name: undefined, until: undefined }
  return { term: leader.term, worker: leader.worker, name: leader.name ?? undefined, until: leader.until }
}
