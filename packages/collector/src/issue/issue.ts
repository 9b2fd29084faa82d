/**
 * Issues of a repository in a collection. REST lists pull requests among them; those rows say so and never count.
 */
import { onClient, type TransactionClient } from '@sluice/engine'
import sql from 'sql-template-tag'
import { cut } from '../collection/cut.ts'
import { inKeyOrder } from '../collection/row-order.ts'

export interface IssueRow {
  readonly number: number
  readonly id: number
  readonly title: string
  readonly state: 'open' | 'closed'
  readonly authorId: number | null
  readonly comments: number | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly closedAt: string | null
  /** null: unknown, or an account that is gone. */
  readonly closedById: number | null
  readonly isPullRequest: boolean
}

/** An issue that is stored in a younger state stays as it is. */
export async function storeIssues(
  tx: TransactionClient,
  collection: number,
  repositoryId: number,
  given: readonly IssueRow[],
): Promise<void> {
  const rows = inKeyOrder(
    given,
    ({ number }) => number,
    (row, than) => Date.parse(row.updatedAt) >= Date.parse(than.updatedAt),
  )
  if (rows.length === 0) return
  const all = <T>(of: (row: IssueRow) => T): T[] => rows.map(of)
  const titles = all(({ title }) => cut(title))
  await onClient(tx).query(sql`
    insert into collector.issue as i (
      collection_id, repository_id, number, id, title, state, author_id, comments, created_at, updated_at, closed_at, closed_by_id, is_pull_request, truncated)
    select ${collection}, ${repositoryId}, g.*
    from unnest(
      ${all(({ number }) => number)}::integer[], ${all(({ id }) => id)}::bigint[], ${titles.map(({ value }) => value)}::text[],
      ${all(({ state }) => state)}::text[], ${all(({ authorId }) => authorId)}::bigint[], ${all(({ comments }) => comments)}::integer[],
      ${all(({ createdAt }) => createdAt)}::timestamptz[], ${all(({ updatedAt }) => updatedAt)}::timestamptz[],
      ${all(({ closedAt }) => closedAt)}::timestamptz[], ${all(({ closedById }) => closedById)}::bigint[],
      ${all(({ isPullRequest }) => isPullRequest)}::boolean[], ${titles.map(({ truncated }) => truncated)}::boolean[]) as g
    on conflict (collection_id, repository_id, number) do update
    set id = excluded.id, title = excluded.title, state = excluded.state, author_id = excluded.author_id, created_at = excluded.created_at,
        comments = coalesce(excluded.comments, i.comments), updated_at = excluded.updated_at, closed_at = excluded.closed_at,
        -- lists of REST do not say who closed it: what is known of the same closing stays
        closed_by_id = coalesce(excluded.closed_by_id, case when excluded.closed_at = i.closed_at then i.closed_by_id end),
        is_pull_request = excluded.is_pull_request, truncated = excluded.truncated
    where excluded.updated_at >= i.updated_at`)
}
