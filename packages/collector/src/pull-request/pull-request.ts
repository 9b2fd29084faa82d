/**
 * Pull requests: those of the user's repositories, and the user's own anywhere. One that is both is one row, whichever list brings it.
 */
import { onClient, type TransactionClient } from '@sluice/engine'
import sql from 'sql-template-tag'
import { cut } from '../collection/cut.ts'
import { inKeyOrder } from '../collection/row-order.ts'

export interface PullRequestRow {
  /** The base. */
  readonly repositoryId: number
  readonly number: number
  readonly id: number
  readonly title: string
  readonly state: 'open' | 'closed'
  readonly authorId: number | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly closedAt: string | null
  readonly mergedAt: string | null
  readonly mergedById: number | null
  /** owner/name */
  readonly baseName: string
  readonly baseOwnerId: number | null
  readonly baseStars: number | null
  /** null: the fork is gone. */
  readonly headOwnerId: number | null
  readonly additions: number | null
  readonly deletions: number | null
  readonly changedFiles: number | null
}

/** One that is stored in a younger state stays as it is. What only some lists tell (lines, who merged it) stays when another list does not. */
export async function storePullRequests(
  tx: TransactionClient,
  collection: number,
  given: readonly PullRequestRow[],
): Promise<void> {
  const rows = inKeyOrder(
    given,
    ({ repositoryId, number }) => [repositoryId, number],
    (row, than) => Date.parse(row.updatedAt) >= Date.parse(than.updatedAt),
  )
  if (rows.length === 0) return
  const all = <T>(of: (row: PullRequestRow) => T): T[] => rows.map(of)
  const titles = all(({ title }) => cut(title))
  await onClient(tx).query(sql`
    insert into collector.pull_request as p (
      collection_id, repository_id, number, id, title, state, author_id, created_at, updated_at, closed_at, merged_at, merged_by_id,
      base_name, base_owner_id, base_stars, head_owner_id, additions, deletions, changed_files, truncated)
    select ${collection}, g.*
    from unnest(
      ${all(({ repositoryId }) => repositoryId)}::bigint[], ${all(({ number }) => number)}::integer[], ${all(({ id }) => id)}::bigint[],
      ${titles.map(({ value }) => value)}::text[], ${all(({ state }) => state)}::text[], ${all(({ authorId }) => authorId)}::bigint[],
      ${all(({ createdAt }) => createdAt)}::timestamptz[], ${all(({ updatedAt }) => updatedAt)}::timestamptz[],
      ${all(({ closedAt }) => closedAt)}::timestamptz[], ${all(({ mergedAt }) => mergedAt)}::timestamptz[],
      ${all(({ mergedById }) => mergedById)}::bigint[], ${all(({ baseName }) => cut(baseName).value)}::text[],
      ${all(({ baseOwnerId }) => baseOwnerId)}::bigint[], ${all(({ baseStars }) => baseStars)}::integer[],
      ${all(({ headOwnerId }) => headOwnerId)}::bigint[], ${all(({ additions }) => additions)}::integer[],
      ${all(({ deletions }) => deletions)}::integer[], ${all(({ changedFiles }) => changedFiles)}::integer[],
      ${titles.map(({ truncated }) => truncated)}::boolean[]) as g
    on conflict (collection_id, repository_id, number) do update
    set id = excluded.id, title = excluded.title, state = excluded.state, author_id = excluded.author_id, created_at = excluded.created_at,
        updated_at = excluded.updated_at, closed_at = excluded.closed_at, merged_at = excluded.merged_at,
        merged_by_id = coalesce(excluded.merged_by_id, case when excluded.merged_at = p.merged_at then p.merged_by_id end),
        base_name = excluded.base_name, base_owner_id = coalesce(excluded.base_owner_id, p.base_owner_id),
        base_stars = coalesce(excluded.base_stars, p.base_stars), head_owner_id = coalesce(excluded.head_owner_id, p.head_owner_id),
        additions = coalesce(excluded.additions, p.additions), deletions = coalesce(excluded.deletions, p.deletions),
        changed_files = coalesce(excluded.changed_files, p.changed_files), truncated = excluded.truncated
    where excluded.updated_at >= p.updated_at`)
}
