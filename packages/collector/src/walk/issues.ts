/** Issues of repositories: those that changed since the last walk, in the order in which they were made. */
import { defineKind, type JobRequest, type Outcome } from '@sluice/engine'
import { countCost } from '@sluice/github'
import { z } from 'zod'
import { storeIssues } from '../issue/issue.ts'
import { issueRows, issuesAnswer, issuesQuery } from './graphql/issues.ts'
import { type ListKind, walkList } from './graphql/walk-list.ts'
import { changedList, listItem, patient, priorities, scope } from './list-item.ts'
import type { Services } from './workshop.ts'

const item = z.object({ ...listItem, ...changedList })
const payload = z.object({ ...scope, items: z.array(item).min(1).max(50) })

export type IssuesItem = z.output<typeof item>

const byGraphql: ListKind<IssuesItem, typeof issuesAnswer> = {
  resource: 'issues',
  query: issuesQuery,
  schema: issuesAnswer,
  page: ({ id }, { issues: { nodes, pageInfo } }) => ({
    store: (tx, collection) => storeIssues(tx, collection, id, issueRows(nodes)),
    after: pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined,
  }),
}

export const issues = defineKind('github.issues', {
  payload,
  priority: priorities.child,
  retry: patient,
  lane: 'github:{owner}:graphql',
  cost: ({ items }) => countCost(issuesQuery(items).query).points,
  run(job, { collector }: Services): Promise<Outcome> {
    const { collection, run } = job.payload
    const request = (items: readonly IssuesItem[]): JobRequest =>
      issues({ collection, run, items: [...items] }, { owner: job.owner as string })
    return walkList(job, collector, byGraphql, request)
  },
})
