/** Pull requests by REST, those that changed last first. The list has neither line counts nor who merged. */
import { z } from 'zod'
import { storePullRequests } from '../../pull-request/pull-request.ts'
import { account, id, time } from './shapes.ts'
import type { RestList } from './walk-list.ts'

const base = z.object({ id, full_name: z.string(), stargazers_count: z.int().min(0).nullish(), owner: account })
const pull = z.object({
  id,
  number: id,
  title: z.string(),
  state: z.enum(['open', 'closed']),
  user: account,
  created_at: time,
  updated_at: time,
  closed_at: time.nullish(),
  merged_at: time.nullish(),
  base: z.object({ repo: base }),
  head: z.object({ user: account, repo: z.object({ owner: account }).nullish() }),
})
const schema = z.array(pull)

export const restPulls: RestList<typeof schema> = {
  resource: 'pull-requests',
  path: (repository) => `/repositories/${repository}/pulls`,
  query: { state: 'all', sort: 'updated', direction: 'desc' },
  filtersSince: false,
  schema,
  lastChange: (rows) => rows.at(-1)?.updated_at,
  store: (tx, collection, _repository, rows) =>
    storePullRequests(
      tx,
      collection,
      rows.map((row) => ({
        repositoryId: row.base.repo.id,
        number: row.number,
        id: row.id,
        title: row.title,
        state: row.state,
        authorId: row.user?.id ?? null,
        createdAt: row.created_at,
        updatedAt: row.updated_at,
        closedAt: row.closed_at ?? null,
        mergedAt: row.merged_at ?? null,
        mergedById: null,
        baseName: row.base.repo.full_name,
        baseOwnerId: row.base.repo.owner?.id ?? null,
        baseStars: row.base.repo.stargazers_count ?? null,
        headOwnerId: row.head.repo?.owner?.id ?? row.head.user?.id ?? null,
        additions: null,
        deletions: null,
        changedFiles: null,
      })),
    ),
}
