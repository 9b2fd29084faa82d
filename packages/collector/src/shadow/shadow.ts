/** Comparisons of two strategies, as rows. One that has no report is under way, and there is one of a user at most. */
import { type Executor, onClient, type TransactionClient } from '@sluice/engine'
import sql, { type Sql } from 'sql-template-tag'
import type { Strategy } from '../collection/collection.ts'
import type { ShadowReport } from './report.ts'

export interface Shadow {
  readonly id: number
  readonly userId: number
  /** The collections, after the report. */
  readonly keep: boolean
  readonly createdAt: Date
  readonly finishedAt: Date | null
  readonly sides: readonly ShadowSide[]
  /** There when both runs have ended. */
  readonly report: ShadowReport | null
}

export interface ShadowSide {
  readonly strategy: Strategy
  readonly collection: number
  readonly run: number
}

const columns = sql`
  s.id::double precision as id, s.user_id::double precision as "userId", s.keep, s.created_at as "createdAt", s.finished_at as "finishedAt", s.report,
  (select jsonb_agg(jsonb_build_object('strategy', e.strategy, 'collection', e.collection_id, 'run', e.run) order by e.place)
   from collector.shadow_side e where e.shadow_id = s.id) as sides`

/** Answers nothing when one is under way. */
export async function insertShadow(tx: TransactionClient, userId: number, keep: boolean): Promise<number | undefined> {
  const { rows } = await onClient(tx).query<{ id: number }>(sql`
    insert into collector.shadow (user_id, keep)
    values (${userId}, ${keep})
    on conflict (user_id) where finished_at is null do nothing
    returning id::double precision as id`)
  return rows[0]?.id
}

export async function insertSide(tx: TransactionClient, shadow: number, place: number, side: ShadowSide): Promise<void> {
  await onClient(tx).query(sql`
    insert into collector.shadow_side (shadow_id, place, strategy, collection_id, run)
    values (${shadow}, ${place}, ${side.strategy}, ${side.collection}, ${side.run})`)
}

/** Once: answers whether this was the time. */
export async function storeReport(tx: TransactionClient, shadow: number, report: ShadowReport): Promise<boolean> {
  const { rows } = await onClient(tx).query(sql`
    update collector.shadow
    set report = ${JSON.stringify(report)}::jsonb, finished_at = sluice.now()
    where id = ${shadow} and finished_at is null
    returning id`)
  return rows.length > 0
}

export async function findNewestShadow(on: Executor, userId: number): Promise<Shadow | undefined> {
  return select(on, sql`where s.user_id = ${userId} order by s.id desc limit 1`)
}

export async function findShadowOfRun(on: Executor, run: number): Promise<Shadow | undefined> {
  return select(on, sql`where s.id = (select shadow_id from collector.shadow_side where run = ${run})`)
}

async function select(on: Executor, rest: Sql): Promise<Shadow | undefined> {
  const { rows } = await on.query<Shadow>(sql`select ${columns} from collector.shadow s ${rest}`)
  return rows[0]
}
