/** Compares what is stored for a user with what the simulated GitHub knows to be true, and says each difference in a line. */
import type { GithubSim } from '@sluice/github-sim'
import type pg from 'pg'

type Row = Record<string, unknown>
type Key = (row: Row) => readonly unknown[]

const affiliations = new Set(['OWNER', 'COLLABORATOR'])
const states: Record<string, string> = { ok: 'active', empty: 'empty', blocked: 'blocked', guarded: 'forbidden' }

export interface Compared {
  /** What a strategy cannot know is left out, by table: `issue.closed_by_id`. */
  readonly except?: readonly string[]
  readonly collection?: number
}

export async function findDifference(
  client: pg.Client,
  sim: GithubSim,
  login: string,
  userId: number,
  { except = [], collection }: Compared = {},
): Promise<string[]> {
  const truth = sim.world.groundTruth(login)
  if (!truth) throw new Error(`nobody is called ${login}`)
  const live = `(select id from collector.collection where user_id = ${userId} and ${collection === undefined ? "purpose = 'live'" : `id = ${collection}`})`
  const select = async (columns: string, table: string, where = ''): Promise<Row[]> =>
    (await client.query(`select ${columns} from collector.${table} where collection_id = ${live} ${where}`)).rows as Row[]
  const repositories = truth.repositories.filter(({ affiliation }) => affiliations.has(affiliation))
  const readable = repositories.filter(({ state }) => state === 'ok' || state === 'empty').map(({ id }) => id)
  const among = `and repository_id = any(array[${readable.join(',')}]::bigint[])`
  const byRepo = <T>(lists: Readonly<Record<number, readonly T[]>>): (T & { repoId: number })[] =>
    readable.flatMap((repoId) => (lists[repoId] ?? []).map((one) => ({ ...one, repoId })))
  const own = truth.ownPulls.filter(({ repoId }) => !readable.includes(repoId))
  const user = (await client.query('select login, name, followers from collector.users where id = $1', [userId])).rows as Row[]
  const { login: now, name, followers } = truth.profile
  return [
    ...compare('users', except, () => [], user, [{ login: now, name, followers }]),
    ...compare(
      'repository',
      except,
      ({ id }) => [id],
      await select(
        'id::int, name, owner_id::int, stars, private, fork, archived, head, state, created_at, updated_at, pushed_at',
        'repository',
        "and state not in ('deleted', 'left')",
      ),
      repositories.map((one) => ({
        id: one.id,
        ...(one.state === 'guarded' || one.state === 'blocked'
          ? {}
          : {
              name: one.name,
              owner_id: one.ownerId,
              stars: one.stars,
              head: one.head,
              pushed_at: date(one.pushedAt),
              updated_at: date(one.updatedAt),
            }),
        private: one.private,
        fork: one.fork,
        state: states[one.state],
        created_at: date(one.createdAt),
      })),
    ),
    ...compare(
      'commit',
      except,
      ({ repository_id: repo, sha }) => [repo, sha],
      await select(
        'repository_id::int, sha, author_id::int, additions, deletions, authored_at, committed_at',
        'commit',
        `${among} and gone_at is null`,
      ),
      byRepo(truth.commits).map((one) => ({
        repository_id: one.repoId,
        sha: one.sha,
        author_id: one.authorId,
        additions: one.additions,
        deletions: one.deletions,
        authored_at: date(one.authoredAt),
        committed_at: date(one.committedAt),
      })),
    ),
    ...compare(
      'issue',
      except,
      ({ repository_id: repo, number }) => [repo, number],
      await select(
        'repository_id::int, number, id::int, title, state, author_id::int, created_at, updated_at, closed_at, closed_by_id::int',
        'issue',
        `${among} and not is_pull_request and exists (select from collector.repository r where r.collection_id = issue.collection_id and r.id = repository_id and r.has_issues)`,
      ),
      byRepo(truth.issues).map((one) => ({
        repository_id: one.repoId,
        number: one.number,
        id: one.id,
        title: one.title,
        state: one.state,
        author_id: one.authorId,
        created_at: date(one.createdAt),
        updated_at: date(one.updatedAt),
        closed_at: date(one.closedAt),
        closed_by_id: one.closedById,
      })),
    ),
    ...compare(
      'pull_request',
      except,
      ({ repository_id: repo, number }) => [repo, number],
      await select(
        'repository_id::int, number, id::int, title, state, author_id::int, created_at, updated_at, closed_at, merged_at, merged_by_id::int, additions, deletions, changed_files',
        'pull_request',
        `and repository_id = any(array[${[...new Set([...readable.filter((id) => sim.world.repos.get(id)?.hasPullRequests), ...own.map(({ repoId }) => repoId)])].join(',')}]::bigint[])`,
      ),
      [...byRepo(truth.pulls), ...own].map((one) => ({
        repository_id: one.repoId,
        number: one.number,
        id: one.id,
        title: one.title,
        state: one.state,
        author_id: one.authorId,
        created_at: date(one.createdAt),
        updated_at: date(one.updatedAt),
        closed_at: date(one.closedAt),
        merged_at: date(one.mergedAt),
        merged_by_id: one.mergedById,
        additions: one.additions,
        deletions: one.deletions,
        changed_files: one.changedFiles,
      })),
    ),
  ]
}

function compare(table: string, except: readonly string[], keyOf: Key, stored: readonly Row[], truth: readonly Row[]): string[] {
  const found = new Map(stored.map((row) => [keyOf(row).join('/'), row]))
  const lines: string[] = []
  for (const row of truth) {
    const key = keyOf(row).join('/')
    const had = found.get(key)
    found.delete(key)
    if (!had) lines.push(`${table} ${key} is missing`)
    else
      for (const [field, value] of Object.entries(row))
        if (!except.includes(`${table}.${field}`) && text(had[field]) !== text(value))
          lines.push(`${table} ${key}: ${field} is ${text(had[field])}, in truth ${text(value)}`)
  }
  for (const key of found.keys()) lines.push(`${table} ${key} is too much`)
  return lines
}

const date = (ms: number | null): Date | null => (ms === null ? null : new Date(ms))
const text = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))
