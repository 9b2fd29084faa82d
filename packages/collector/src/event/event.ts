/**
 * The user's events, kept by id. They are a window of 300 events and 30 days on what happened, so nothing is ever counted from them.
 */
import { onClient, type TransactionClient } from '@sluice/engine'
import sql from 'sql-template-tag'
import { cut, cutPayload } from '../collection/cut.ts'
import { inKeyOrder } from '../collection/row-order.ts'

export interface EventRow {
  readonly id: string
  readonly type: string
  readonly repositoryId: number | null
  readonly createdAt: string
  readonly payload: unknown
}

export async function storeEvents(tx: TransactionClient, collection: number, given: readonly EventRow[]): Promise<void> {
  const rows = inKeyOrder(given, ({ id }) => id)
  if (rows.length === 0) return
  const all = <T>(of: (row: EventRow) => T): T[] => rows.map(of)
  const payloads = all(({ payload }) => cutPayload(payload))
  await onClient(tx).query(sql`
    insert into collector.event (collection_id, id, type, repository_id, created_at, payload, truncated)
    select ${collection}, g.*
    from unnest(
      ${all(({ id }) => cut(id).value)}::text[], ${all(({ type }) => cut(type).value)}::text[], ${all(({ repositoryId }) => repositoryId)}::bigint[],
      ${all(({ createdAt }) => createdAt)}::timestamptz[], ${payloads.map(({ value }) => value)}::jsonb[],
      ${payloads.map(({ truncated }) => truncated)}::boolean[]) as g
    on conflict (collection_id, id) do nothing`)
}
