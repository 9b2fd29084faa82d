/**
 * Commits of a repository in a collection. A commit never changes, but what is known of it does: its statistics may come later, its author's e-mail may
 * be claimed by an account, and a push may make it unreachable, or reachable again.
 */
import { type Executor, onClient, type TransactionClient } from '@sluice/engine'
import sql from 'sql-template-tag'
import { cut } from '../collection/cut.ts'
import { inKeyOrder } from '../collection/row-order.ts'

export interface CommitStatistics {
  readonly sha: string
  readonly additions: number
  readonly deletions: number
  readonly changedFiles: number | null
}

export interface CommitRow extends Omit<CommitStatistics, 'additions' | 'deletions'> {
  /** null: its e-mail belongs to no account. */
  readonly authorId: number | null
  readonly authoredAt: string
  readonly committedAt: string
  /** null: not known yet. */
  readonly additions: number | null
  readonly deletions: number | null
  /** The first line is kept. */
  readonly message: string
}

/** `walk` is the run whose walk saw them. */
export async function storeCommits(
  tx: TransactionClient,
  collection: number,
  repositoryId: number,
  given: readonly CommitRow[],
  walk: number,
): Promise<void> {
  const rows = inKeyOrder(given, ({ sha }) => sha)
  if (rows.length === 0) return
  const all = <T>(of: (row: CommitRow) => T): T[] => rows.map(of)
  const headlines = all(({ message }) => cut(message.split('\n', 1)[0] ?? ''))
  await onClient(tx).query(sql`
    insert into collector.commit as c (
      collection_id, repository_id, sha, author_id, authored_at, committed_at, additions, deletions, changed_files, headline, truncated, walk)
    select ${collection}, ${repositoryId}, g.*, ${walk}
    from unnest(
      ${all(({ sha }) => sha)}::text[], ${all(({ authorId }) => authorId)}::bigint[], ${all(({ authoredAt }) => authoredAt)}::timestamptz[],
      ${all(({ committedAt }) => committedAt)}::timestamptz[], ${all(({ additions }) => additions)}::integer[],
      ${all(({ deletions }) => deletions)}::integer[], ${all(({ changedFiles }) => changedFiles)}::integer[],
      ${headlines.map(({ value }) => value)}::text[], ${headlines.map(({ truncated }) => truncated)}::boolean[]) as g
    on conflict (collection_id, repository_id, sha) do update
    set author_id = excluded.author_id,
        additions = coalesce(excluded.additions, c.additions),
        deletions = coalesce(excluded.deletions, c.deletions),
        changed_files = coalesce(excluded.changed_files, c.changed_files),
        walk = excluded.walk,
        gone_at = null
    where excluded.walk >= c.walk`)
}

/** Of these, the ones that are stored and reachable. */
export async function knownShas(
  on: Executor,
  collection: number,
  repositoryId: number,
  shas: readonly string[],
): Promise<Set<string>> {
  const { rows } = await on.query<{ sha: string }>(sql`
    select sha
    from collector.commit
    where collection_id = ${collection} and repository_id = ${repositoryId} and sha = any(${[...shas]}::text[]) and gone_at is null`)
  return new Set(rows.map(({ sha }) => sha))
}

/** After a walk that reached the end: what it did not see was pushed away. Answers how many. */
export async function markGone(tx: TransactionClient, collection: number, repositoryId: number, walk: number): Promise<number> {
  const { rows } = await onClient(tx).query<{ gone: number }>(sql`
    with gone as (
      update collector.commit
      set gone_at = sluice.now()
      where collection_id = ${collection} and repository_id = ${repositoryId} and walk < ${walk} and gone_at is null
      returning 1)
    select count(*)::integer as gone from gone`)
  return rows[0]?.gone ?? 0
}

/** For commits that were stored without. */
export async function storeCommitStatistics(
  tx: TransactionClient,
  collection: number,
  repositoryId: number,
  given: readonly CommitStatistics[],
): Promise<void> {
  const rows = inKeyOrder(given, ({ sha }) => sha)
  if (rows.length === 0) return
  const all = <T>(of: (row: CommitStatistics) => T): T[] => rows.map(of)
  await onClient(tx).query(sql`
    update collector.commit c
    set additions = g.additions, deletions = g.deletions, changed_files = coalesce(g.changed_files, c.changed_files)
    from unnest(
      ${all(({ sha }) => sha)}::text[], ${all(({ additions }) => additions)}::integer[], ${all(({ deletions }) => deletions)}::integer[],
      ${all(({ changedFiles }) => changedFiles)}::integer[]) as g (sha, additions, deletions, changed_files)
    where c.collection_id = ${collection} and c.repository_id = ${repositoryId} and c.sha = g.sha`)
}

/** Reachable commits whose statistics are not known yet, in the order of their shas. */
export async function findBareCommits(
  on: Executor,
  collection: number,
  repositoryId: number,
  { after = '', limit = 100 }: { after?: string; limit?: number } = {},
): Promise<string[]> {
  const { rows } = await on.query<{ sha: string }>(sql`
    select sha
    from collector.commit
    where collection_id = ${collection} and repository_id = ${repositoryId} and additions is null and gone_at is null and sha > ${after}
    order by sha
    limit ${limit}`)
  return rows.map(({ sha }) => sha)
}
