/** Pull requests of repositories, those that changed last first, until they are older than the last walk. */
import { defineKind, type JobRequest, type Outcome } from '@sluice/engine'
import { countCost } from '@sluice/github'
import { z } from 'zod'
import { storePullRequests } from '../pull-request/pull-request.ts'
import { pullRows, pullsAnswer, pullsQuery } from './graphql/pull-requests.ts'
import { type ListKind, walkList } from './graphql/walk-list.ts'
import { changedList, listItem, patient, priorities, scope } from './list-item.ts'
import type { Services } from './workshop.ts'

const item = z.object({ ...listItem, ...changedList })
const payload = z.object({ ...scope, items: z.array(item).min(1).max(50) })

export type PullsItem = z.output<typeof item>

const byGraphql: ListKind<PullsItem, typeof pullsAnswer> = {
  resource: 'pull-requests',
  query: pullsQuery,
  schema: pullsAnswer,
  page: ({ since }, { pullRequests: { nodes, pageInfo } }) => ({
    store: (tx, collection) => storePullRequests(tx, collection, pullRows(nodes)),
    after: isOlder(nodes.at(-1)?.updatedAt, since) || !pageInfo.hasNextPage ? undefined : (pageInfo.endCursor ?? undefined),
  }),
}

export const pullRequests = defineKind('github.pull-requests', {
  payload,
  priority: priorities.child,
  retry: patient,
  lane: 'github:{owner}:graphql',
  cost: ({ items }) => countCost(pullsQuery(items).query).points,
  run(job, { collector }: Services): Promise<Outcome> {
    const { collection, run } = job.payload
    const request = (items: readonly PullsItem[]): JobRequest =>
      pullRequests({ collection, run, items: [...items] }, { owner: job.owner as string })
    return walkList(job, collector, byGraphql, request)
  },
})

export function isOlder(updatedAt: string | undefined, since: string | undefined): boolean {
  return since !== undefined && updatedAt !== undefined && Date.parse(updatedAt) < Date.parse(since)
}
