/**
 * The user's own pull requests, wherever they are: without them nobody knows what was merged into others' repositories. Always by GraphQL, because REST has
 * no such list but its search, which ends at a thousand.
 */
import { defineKind, done, type Outcome } from '@sluice/engine'
import { countCost, halve } from '@sluice/github'
import { z } from 'zod'
import { moveCursor } from '../cursor/cursor.ts'
import { storePullRequests } from '../pull-request/pull-request.ts'
import { ask } from './ask.ts'
import { ownPullsAnswer, ownPullsQuery, pullRows } from './graphql/pull-requests.ts'
import { earlier } from './graphql/walk-list.ts'
import { changedList, patient, priorities, scope } from './list-item.ts'
import { isOlder } from './pull-requests.ts'
import type { Services } from './workshop.ts'

const payload = z.object({
  ...scope,
  ...changedList,
  user: z.string().min(1).max(200),
  first: z.int().min(1).max(100),
  after: z.string().max(1_000).optional(),
})

export const ownPullRequests = defineKind('github.own-pull-requests', {
  payload,
  priority: priorities.child,
  retry: patient,
  lane: 'github:{owner}:graphql',
  async run(job, { collector }: Services): Promise<Outcome> {
    const { collection, run, user, first, after = null, since, newestAt } = job.payload
    const own = { owner: job.owner as string }
    const variables = { user, first, after }
    const less = () => {
      const fewer = halve(first)
      return fewer === undefined ? undefined : [ownPullRequests({ ...job.payload, first: fewer }, own)]
    }
    const { points } = countCost(ownPullsQuery, variables)
    const asked = await ask(job, collector, { text: ownPullsQuery, variables, points }, { schema: ownPullsAnswer, less })
    if (asked.type !== 'ok') return asked.type === 'over' ? asked.outcome : done()
    const { pageInfo, nodes = [] } = asked.data.node?.pullRequests ?? {}
    const startedAt = job.payload.startedAt ?? asked.servedAt.toISOString()
    const goesOn = pageInfo?.hasNextPage && pageInfo.endCursor !== after && !isOlder(nodes.at(-1)?.updatedAt, since)
    const end = { resource: 'own-pull-requests' as const, since: earlier(startedAt, collector), head: newestAt }
    return done({
      write: async (tx) => {
        await storePullRequests(tx, collection, pullRows(nodes))
        if (!goesOn) await moveCursor(tx, collection, end, run)
      },
      next: goesOn && [ownPullRequests({ ...job.payload, startedAt, after: pageInfo.endCursor ?? undefined }, own)],
    })
  },
})
