/**
 * Repositories of a collection, by GitHub's id: names and owners are data, and a rename changes nothing else.
 */
import { type Executor, onClient, type TransactionClient } from '@sluice/engine'
import sql, { empty } from 'sql-template-tag'
import { cut } from '../collection/cut.ts'
import { inKeyOrder } from '../collection/row-order.ts'

export type RepositoryState = 'active' | 'empty' | 'deleted' | 'blocked' | 'forbidden' | 'left'

/** As a listing shows it. Times are GitHub's own text. */
export interface RepositoryRow {
  readonly id: number
  readonly nodeId: string
  readonly ownerId: number
  readonly ownerLogin: string
  readonly name: string
  readonly fork: boolean
  readonly private: boolean
  readonly archived: boolean
  readonly stars: number
  readonly language: string | null
  readonly defaultBranch: string | null
  /** null: empty. */
  readonly head: string | null
  readonly hasIssues: boolean
  readonly hasPullRequests: boolean
  readonly createdAt: string
  readonly updatedAt: string
  readonly pushedAt: string | null
  readonly newestIssueAt: string | null
  readonly newestPullAt: string | null
  readonly state: RepositoryState
}

type Times = 'createdAt' | 'updatedAt' | 'pushedAt' | 'newestIssueAt' | 'newestPullAt'

export interface Repository extends Omit<RepositoryRow, Times> {
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly pushedAt: Date | null
  readonly newestIssueAt: Date | null
  readonly newestPullAt: Date | null
  readonly stateReason: string | null
  readonly stateSince: Date
  /** The run that listed it last. */
  readonly seenRun: number | null
}

const columns = sql`
  id, node_id as "nodeId", owner_id as "ownerId", owner_login as "ownerLogin", name, fork, private, archived, stars, language, default_branch as "defaultBranch",
  head, has_issues as "hasIssues", has_pull_requests as "hasPullRequests", created_at as "createdAt", updated_at as "updatedAt", pushed_at as "pushedAt",
  newest_issue_at as "newestIssueAt", newest_pull_at as "newestPullAt", state, state_reason as "stateReason", state_since as "stateSince", seen_run as "seenRun"`

/** Listed by a run. A page that is older than what is stored changes nothing but that the run has seen it. */
export async function storeRepositories(
  tx: TransactionClient,
  collection: number,
  given: readonly RepositoryRow[],
  run: number,
): Promise<void> {
  const rows = inKeyOrder(
    given,
    ({ id }) => id,
    (row, than) => changedAt(row) >= changedAt(than),
  )
  if (rows.length === 0) return
  const all = <T>(of: (row: RepositoryRow) => T): T[] => rows.map(of)
  const ids = all(({ id }) => id)
  await onClient(tx).query(sql`
    insert into collector.repository as r (
      collection_id, id, node_id, owner_id, owner_login, name, fork, private, archived, stars, language, default_branch, head, has_issues, has_pull_requests,
      created_at, updated_at, pushed_at, newest_issue_at, newest_pull_at, state, seen_run)
    select ${collection}, g.*, ${run}
    from unnest(
      ${ids}::bigint[], ${all(({ nodeId }) => nodeId)}::text[], ${all(({ ownerId }) => ownerId)}::bigint[],
      ${all(({ ownerLogin }) => cut(ownerLogin).value)}::text[], ${all(({ name }) => cut(name).value)}::text[],
      ${all(({ fork }) => fork)}::boolean[], ${all((row) => row.private)}::boolean[], ${all(({ archived }) => archived)}::boolean[],
      ${all(({ stars }) => stars)}::integer[], ${all(({ language }) => language && cut(language).value)}::text[],
      ${all(({ defaultBranch }) => defaultBranch && cut(defaultBranch).value)}::text[], ${all(({ head }) => head)}::text[],
      ${all(({ hasIssues }) => hasIssues)}::boolean[], ${all(({ hasPullRequests }) => hasPullRequests)}::boolean[],
      ${all(({ createdAt }) => createdAt)}::timestamptz[], ${all(({ updatedAt }) => updatedAt)}::timestamptz[],
      ${all(({ pushedAt }) => pushedAt)}::timestamptz[], ${all(({ newestIssueAt }) => newestIssueAt)}::timestamptz[],
      ${all(({ newestPullAt }) => newestPullAt)}::timestamptz[], ${all(({ state }) => state)}::text[]) as g
    on conflict (collection_id, id) do update
    set node_id = excluded.node_id, owner_id = excluded.owner_id, owner_login = excluded.owner_login, name = excluded.name, fork = excluded.fork,
        private = excluded.private, archived = excluded.archived, stars = excluded.stars, language = excluded.language,
        default_branch = excluded.default_branch, head = excluded.head, has_issues = excluded.has_issues, has_pull_requests = excluded.has_pull_requests,
        created_at = excluded.created_at, updated_at = excluded.updated_at, pushed_at = excluded.pushed_at,
        newest_issue_at = excluded.newest_issue_at, newest_pull_at = excluded.newest_pull_at,
        state = excluded.state,
        state_reason = case when excluded.state = r.state then r.state_reason end,
        state_since = case when excluded.state = r.state then r.state_since else sluice.now() end,
        seen_run = excluded.seen_run
    -- a push and a change of the rest move two different times
    where greatest(excluded.updated_at, excluded.pushed_at) >= greatest(r.updated_at, r.pushed_at)`)
  await onClient(tx).query(sql`
    update collector.repository
    set seen_run = ${run}
    where collection_id = ${collection} and id = any(${ids}::bigint[]) and seen_run is distinct from ${run}`)
}

export async function findRepository(on: Executor, collection: number, id: number): Promise<Repository | undefined> {
  return (await findRepositories(on, collection, [id])).get(id)
}

/** By id; all of the collection's when no ids are given. */
export async function findRepositories(
  on: Executor,
  collection: number,
  ids?: readonly number[],
): Promise<Map<number, Repository>> {
  const { rows } = await on.query<Repository>(sql`
    select ${columns}
    from collector.repository
    where collection_id = ${collection} ${ids ? sql`and id = any(${[...ids]}::bigint[])` : empty}
    order by id`)
  return byId(rows)
}

/** Those that are thought to be there and that this run has not listed: to be asked for by id. */
export async function findUnlisted(on: Executor, collection: number, run: number): Promise<Map<number, Repository>> {
  const { rows } = await on.query<Repository>(sql`
    select ${columns}
    from collector.repository
    where collection_id = ${collection} and seen_run is distinct from ${run} and state not in ('deleted', 'left')
    order by id`)
  return byId(rows)
}

export async function changeRepositoryState(
  tx: TransactionClient,
  collection: number,
  id: number,
  state: RepositoryState,
  reason?: string,
): Promise<void> {
  await onClient(tx).query(sql`
    update collector.repository
    set state = ${state},
        state_reason = ${reason === undefined ? null : cut(reason).value},
        state_since = case when state = ${state} then state_since else sluice.now() end
    where collection_id = ${collection} and id = ${id}`)
}

/** After a rename or a transfer that was met on the way. */
export async function renameRepository(
  tx: TransactionClient,
  collection: number,
  { id, name, ownerId, ownerLogin }: Pick<RepositoryRow, 'id' | 'name' | 'ownerId' | 'ownerLogin'>,
): Promise<void> {
  await onClient(tx).query(sql`
    update collector.repository
    set name = ${cut(name).value}, owner_id = ${ownerId}, owner_login = ${cut(ownerLogin).value}
    where collection_id = ${collection} and id = ${id}`)
}

function changedAt({ updatedAt, pushedAt }: RepositoryRow): number {
  return Math.max(Date.parse(updatedAt), pushedAt === null ? 0 : Date.parse(pushedAt))
}

function byId(rows: readonly Repository[]): Map<number, Repository> {
  return new Map(
    rows.map((row) => {
      const id = Number(row.id)
      return [id, { ...row, id, ownerId: Number(row.ownerId), seenRun: row.seenRun === null ? null : Number(row.seenRun) }]
    }),
  )
}
