/** Issues by REST. The list has pull requests among them, which are stored as what they are, and does not say who closed an issue. */
import { z } from 'zod'
import { storeIssues } from '../../issue/issue.ts'
import { account, id, time } from './shapes.ts'
import type { RestList } from './walk-list.ts'

const issue = z.object({
  id,
  number: id,
  title: z.string(),
  state: z.enum(['open', 'closed']),
  user: account,
  comments: z.int().min(0).nullish(),
  created_at: time,
  updated_at: time,
  closed_at: time.nullish(),
  closed_by: account,
  pull_request: z.unknown().optional(),
})
const schema = z.array(issue)

export const restIssues: RestList<typeof schema> = {
  resource: 'issues',
  path: (repository) => `/repositories/${repository}/issues`,
  query: { state: 'all', sort: 'created', direction: 'asc' },
  filtersSince: true,
  schema,
  lastChange: () => undefined,
  store: (tx, collection, repository, rows) =>
    storeIssues(
      tx,
      collection,
      repository,
      rows.map((row) => ({
        id: row.id,
        number: row.number,
        title: row.title,
        state: row.state,
        authorId: row.user?.id ?? null,
        comments: row.comments ?? null,
        createdAt: row.created_at,
        updatedAt: row.updated_at,
        closedAt: row.closed_at ?? null,
        closedById: row.closed_by?.id ?? null,
        isPullRequest: row.pull_request !== undefined && row.pull_request !== null,
      })),
    ),
}
