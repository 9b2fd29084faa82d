/**
 * A collection: one body of collected data of a user. The live one counts; a shadow is filled beside it by another strategy and touches nothing.
 */
import { type Executor, onClient, type TransactionClient } from '@sluice/engine'
import sql from 'sql-template-tag'

export const strategies = ['graphql', 'rest'] as const

export type Strategy = (typeof strategies)[number]

export interface Collection {
  readonly id: number
  readonly userId: number
  readonly purpose: 'live' | 'shadow'
  readonly strategy: Strategy
  readonly createdAt: Date
}

const columns = sql`id, user_id as "userId", purpose, strategy, created_at as "createdAt"`

/** A user has one live collection; asked for another, it answers the one there is. */
export async function createCollection(
  tx: TransactionClient,
  userId: number,
  purpose: Collection['purpose'],
  strategy: Strategy,
): Promise<Collection> {
  const { rows } = await onClient(tx).query<Collection>(sql`
    insert into collector.collection (user_id, purpose, strategy)
    values (${userId}, ${purpose}, ${strategy})
    on conflict (user_id) where purpose = 'live' do update
    set user_id = excluded.user_id
    returning ${columns}`)
  return tidy(rows[0] as Collection)
}

export async function findCollection(on: Executor, id: number): Promise<Collection | undefined> {
  const { rows } = await on.query<Collection>(sql`select ${columns} from collector.collection where id = ${id}`)
  return rows[0] && tidy(rows[0])
}

export async function findLiveCollection(on: Executor, userId: number): Promise<Collection | undefined> {
  const { rows } = await on.query<Collection>(sql`
    select ${columns} from collector.collection where user_id = ${userId} and purpose = 'live'`)
  return rows[0] && tidy(rows[0])
}

/** The live one first, then shadows, the newest first. */
export async function listCollections(on: Executor, userId: number): Promise<Collection[]> {
  const { rows } = await on.query<Collection>(sql`
    select ${columns} from collector.collection where user_id = ${userId} order by purpose, id desc`)
  return rows.map(tidy)
}

/** With everything that was collected in it. */
export async function removeShadow(tx: TransactionClient, collection: number): Promise<boolean> {
  const { rows } = await onClient(tx).query(sql`
    delete from collector.collection where id = ${collection} and purpose = 'shadow' returning id`)
  return rows.length > 0
}

/** A client of the caller's may give big numbers as text. */
function tidy(collection: Collection): Collection {
  return { ...collection, id: Number(collection.id), userId: Number(collection.userId) }
}
