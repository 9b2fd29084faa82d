/** Issues of repositories: those that changed since the last walk, in the order in which they were made. */
import { defineKind, type JobContext, type JobRequest, type Outcome } from '@sluice/engine'
import { countCost } from '@sluice/github'
import { z } from 'zod'
import { storeIssues } from '../issue/issue.ts'
import { issueRows, issuesAnswer, issuesQuery } from './graphql/issues.ts'
import { type ListKind, walkList } from './graphql/walk-list.ts'
import { changedList, isRest, laneOfStrategy, listItem, patient, priorities, scope } from './list-item.ts'
import { restIssues } from './rest/issues.ts'
import { restPlace } from './rest/shapes.ts'
import { walkRestList } from './rest/walk-list.ts'
import type { Services } from './workshop.ts'

const item = z.object({ ...listItem, ...changedList })
const lists = z.object({ ...scope, items: z.array(item).min(1).max(50) })
const payload = z.union([lists, z.object({ ...scope, rest: restPlace })])

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
  lane: laneOfStrategy,
  cost: (wanted) => ('items' in wanted ? countCost(issuesQuery(wanted.items).query).points : 1),
  run(job, { collector }: Services): Promise<Outcome> {
    const { collection, run } = job.payload
    const own = { owner: job.owner as string }
    if (isRest(job)) return walkRestList(job, collector, restIssues, (rest) => issues({ collection, run, rest }, own))
    const request = (items: readonly IssuesItem[]): JobRequest => issues({ collection, run, items: [...items] }, own)
    return walkList(job as JobContext<z.output<typeof lists>>, collector, byGraphql, request)
  },
})
