/**
 * Switches of strategy as rows: who changed what and why, and what came of it. The newest one for all tells the strategy of everybody who has none of their own.
 */
import { type Executor, onClient, type TransactionClient } from '@sluice/engine'
import sql, { empty, type Sql } from 'sql-template-tag'
import type { Strategy } from '../collection/collection.ts'
import { cut } from '../collection/cut.ts'

export interface Switch {
  readonly id: number
  /** null: all that have none of their own. */
  readonly userId: number | null
  /** What was chosen before and what is now; null: the one for all. */
  readonly previous: Strategy | null
  readonly chosen: Strategy | null
  /** What that means. */
  readonly from: Strategy
  readonly to: Strategy
  readonly madeBy: 'person' | 'watch'
  readonly madeAt: Date
  readonly state: 'watching' | 'kept' | 'rolled back' | 'replaced'
  readonly reason: string | null
  readonly settledAt: Date | null
}

export type NewSwitch = Pick<Switch, 'userId' | 'previous' | 'chosen' | 'from' | 'to' | 'madeBy' | 'reason'>

const columns = sql`
  id::double precision as id, user_id::double precision as "userId", previous, chosen, from_strategy as "from", to_strategy as "to",
  made_by as "madeBy", made_at as "madeAt", state, reason, settled_at as "settledAt"`

/** Of the switches of one user, or of those for all. */
function target(userId: number | null): Sql {
  return sql`coalesce(user_id, 0) = ${userId ?? 0}`
}

/** What is watched for the same target is replaced by it. One that changes nothing, or that a watch made, needs no watch. */
export async function insertSwitch(tx: TransactionClient, made: NewSwitch): Promise<Switch> {
  const on = onClient(tx)
  await on.query(sql`
    update collector.switch set state = 'replaced', settled_at = sluice.now() where state = 'watching' and ${target(made.userId)}`)
  const watches = made.from !== made.to && made.madeBy === 'person'
  const { rows } = await on.query<Switch>(sql`
    insert into collector.switch (user_id, previous, chosen, from_strategy, to_strategy, made_by, reason, state, settled_at)
    values (${made.userId}, ${made.previous}, ${made.chosen}, ${made.from}, ${made.to}, ${made.madeBy},
            ${made.reason === null ? null : cut(made.reason).value}, ${watches ? 'watching' : 'kept'}, case when ${watches}::boolean then null else sluice.now() end)
    returning ${columns}`)
  return rows[0] as Switch
}

export async function settleSwitch(
  tx: TransactionClient,
  id: number,
  state: 'kept' | 'rolled back',
  reason: string | null,
): Promise<void> {
  await onClient(tx).query(sql`
    update collector.switch
    set state = ${state}, reason = coalesce(${reason}, reason), settled_at = sluice.now()
    where id = ${id} and state = 'watching'`)
}

/** For whoever decides on it: nobody else does meanwhile. */
export async function lockWatching(tx: TransactionClient, id: number): Promise<Switch | undefined> {
  const { rows } = await onClient(tx).query<Switch>(sql`
    select ${columns} from collector.switch where id = ${id} and state = 'watching' for update`)
  return rows[0]
}

/**
 * Two people who switch the same at the same time do it one after the other, and neither while it is rolled back. The user's row comes before that of the
 * switch, as in a finalizer.
 */
export async function lockTarget(tx: TransactionClient, userId: number | null): Promise<void> {
  const on = onClient(tx)
  await (userId === null
    ? on.query(sql`select pg_advisory_xact_lock(hashtextextended('collector.switch', 0))`)
    : on.query(sql`select from collector.users where id = ${userId} for no key update`))
  await on.query(sql`select from collector.switch where state = 'watching' and ${target(userId)} for update`)
}

export async function findWatching(on: Executor, userId: number | null): Promise<Switch | undefined> {
  return (await select(on, sql`where state = 'watching' and ${target(userId)}`))[0]
}

export async function findNewest(on: Executor, userId: number | null): Promise<Switch | undefined> {
  return (await select(on, sql`where ${target(userId)} order by id desc limit 1`))[0]
}

/** Newest first: of a user, or of those for all. */
export async function listSwitches(
  on: Executor,
  userId: number | null,
  before: number | undefined,
  limit: number,
): Promise<Switch[]> {
  return select(
    on,
    sql`where ${target(userId)} ${before === undefined ? empty : sql`and id < ${before}`} order by id desc limit ${limit}`,
  )
}

async function select(on: Executor, rest: Sql): Promise<Switch[]> {
  const { rows } = await on.query<Switch>(sql`select ${columns} from collector.switch ${rest}`)
  return rows
}
