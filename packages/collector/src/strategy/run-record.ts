/**
 * Runs as the collector remembers them: by which strategy they read and how they went. What a switch of strategy is measured by.
 */
import { type Executor, onClient, type TransactionClient } from '@sluice/engine'
import sql from 'sql-template-tag'
import type { Strategy } from '../collection/collection.ts'

export interface RunRecord {
  readonly run: number
  readonly userId: number
  readonly strategy: Strategy
  /** The switch that it is one of the first after. */
  readonly watched: number | null
  /** null: it waited for another token, which says nothing about its strategy. */
  readonly tookMs: number | null
  readonly jobs: number
  readonly failed: number
}

const columns = sql`
  r.run::double precision as run, r.user_id::double precision as "userId", r.strategy, r.watched::double precision as watched,
  r.took_ms::double precision as "tookMs", r.jobs, r.failed`

/** When it is planned; a second time it changes nothing. */
export async function beginRecord(
  tx: TransactionClient,
  {
    run,
    userId,
    collection,
    strategy,
    watched,
  }: Pick<RunRecord, 'run' | 'userId' | 'strategy' | 'watched'> & { collection: number },
): Promise<void> {
  await onClient(tx).query(sql`
    insert into collector.run (run, user_id, collection_id, strategy, watched)
    select ${run}, u.id, ${collection}, ${strategy}, ${watched} from collector.users u where u.id = ${userId}
    on conflict (run) do nothing`)
}

/** Answers nothing for a run that nobody planned. */
export async function endRecord(
  tx: TransactionClient,
  { run, jobs, failed }: Pick<RunRecord, 'run' | 'jobs' | 'failed'>,
): Promise<RunRecord | undefined> {
  const { rows } = await onClient(tx).query<RunRecord>(sql`
    update collector.run r
    set ended_at = sluice.now(), jobs = ${jobs}, failed = ${failed},
        took_ms = case when u.token_trusted_at > s.created_at then null
                       else greatest(0, extract(epoch from sluice.now() - s.created_at) * 1000) end
    from collector.users u, sluice.run s
    where r.run = ${run} and u.id = r.user_id and s.id = r.run
    returning ${columns}`)
  return rows[0]
}

/** Those that ended under the watch of a switch, oldest first. */
export async function readWatched(on: Executor, watched: number): Promise<RunRecord[]> {
  const { rows } = await on.query<RunRecord>(sql`
    select ${columns} from collector.run r where watched = ${watched} and ended_at is not null order by run`)
  return rows
}

/** The last ones of a user's live collection that were planned before a time, newest first. */
export async function readBefore(
  on: Executor,
  userId: number,
  before: Date,
  strategy: Strategy,
  limit: number,
): Promise<RunRecord[]> {
  const { rows } = await on.query<RunRecord>(sql`
    select ${columns}
    from collector.run r
    where collection_id = (select id from collector.collection where user_id = ${userId} and purpose = 'live')
      and strategy = ${strategy} and planned_at < ${before} and ended_at is not null
    order by run desc
    limit ${limit}`)
  return rows
}

/**
 * Lists of REST tell less than GraphQL does. When a collection was read by REST since GraphQL read it last, this is when that began: what changed from then on
 * is worth a second look. Undefined when nothing was; null when nobody but REST has ever read it.
 */
export async function findPoorerSince(on: Executor, collection: number): Promise<Date | null | undefined> {
  const { rows } = await on.query<{ began: Date; alone: boolean }>(sql`
    with rich as (
      select max(run) as run from collector.run where collection_id = ${collection} and strategy = 'graphql' and failed = 0)
    select min(r.planned_at) as began, (select run from rich) is null as alone
    from collector.run r
    where r.collection_id = ${collection} and r.strategy = 'rest' and r.run > coalesce((select run from rich), 0)
    having count(*) > 0`)
  const found = rows[0]
  return found && (found.alone ? null : found.began)
}
