/** Pull requests of repositories, those that changed last first, until they are older than the last walk. */
import { defineKind, type JobContext, type JobRequest, type Outcome } from '@sluice/engine'
import { countCost } from '@sluice/github'
import { z } from 'zod'
import { storePullRequests } from '../pull-request/pull-request.ts'
import { pullRows, pullsAnswer, pullsQuery } from './graphql/pull-requests.ts'
import { type ListKind, walkList } from './graphql/walk-list.ts'
import { changedList, isRest, laneOfStrategy, listItem, patient, priorities, scope } from './list-item.ts'
import { restPulls } from './rest/pull-requests.ts'
import { restPlace } from './rest/shapes.ts'
import { walkRestList } from './rest/walk-list.ts'
import type { Services } from './workshop.ts'

const item = z.object({ ...listItem, ...changedList })
const lists = z.object({ ...scope, items: z.array(item).min(1).max(50) })
const payload = z.union([lists, z.object({ ...scope, rest: restPlace })])

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
  lane: laneOfStrategy,
  cost: (wanted) => ('items' in wanted ? countCost(pullsQuery(wanted.items).query).points : 1),
  run(job, { collector }: Services): Promise<Outcome> {
    const { collection, run } = job.payload
    const own = { owner: job.owner as string }
    if (isRest(job)) return walkRestList(job, collector, restPulls, (rest) => pullRequests({ collection, run, rest }, own))
    const request = (items: readonly PullsItem[]): JobRequest => pullRequests({ collection, run, items: [...items] }, own)
    return walkList(job as JobContext<z.output<typeof lists>>, collector, byGraphql, request)
  },
})

export function isOlder(updatedAt: string | undefined, since: string | undefined): boolean {
  return since !== undefined && updatedAt !== undefined && Date.parse(updatedAt) < Date.parse(since)
}
