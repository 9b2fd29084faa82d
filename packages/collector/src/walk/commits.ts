/** Commits of repositories: of several at once where few are to come, of one where many are. */
import { defineKind, type JobContext, type JobRequest, type Outcome } from '@sluice/engine'
import { countCost } from '@sluice/github'
import { z } from 'zod'
import { commitStatistics } from './commit-statistics.ts'
import { commitsQuery } from './graphql/commits.ts'
import { walkCommits } from './graphql/walk-commits.ts'
import { isRest, laneOfStrategy, listItem, patient, priorities, scope } from './list-item.ts'
import { restPlace } from './rest/shapes.ts'
import { walkRestCommits } from './rest/walk-commits.ts'
import type { Services } from './workshop.ts'

const sha = z.string().min(1).max(100)
const walk = z.object({
  head: sha,
  old: z.object({ head: sha, total: z.int().min(0) }).optional(),
  seenOld: z.boolean(),
  seen: z.int().min(0),
  fresh: z.int().min(0),
  open: z.array(sha).max(1_000).readonly().optional(),
})
const item = z.object({ ...listItem, head: sha, bare: z.boolean().optional(), walk })
const byGraphql = z.object({ ...scope, items: z.array(item).min(1).max(50) })
const byRest = z.object({
  ...scope,
  rest: restPlace.extend({ changedAt: z.iso.datetime({ offset: true }), walk: walk.optional() }),
})

export type CommitsItem = z.output<typeof item>
export type CommitsPayload = z.output<typeof byGraphql>
export type RestCommitsPayload = z.output<typeof byRest>

export const commits = defineKind('github.commits', {
  payload: z.union([byGraphql, byRest]),
  priority: priorities.child,
  retry: patient,
  lane: laneOfStrategy,
  cost: (wanted) => ('items' in wanted ? countCost(commitsQuery(wanted.items).query).points : 1),
  run(job, { collector }: Services): Promise<Outcome> {
    const { collection, run } = job.payload
    const own = { owner: job.owner as string }
    const statistics = (id: number, one: string): JobRequest => commitStatistics({ collection, run, id, sha: one }, own)
    if (isRest(job)) return walkRestCommits(job, collector, (rest) => commits({ collection, run, rest }, own), statistics)
    const request = (items: readonly CommitsItem[]): JobRequest => commits({ collection, run, items: [...items] }, own)
    return walkCommits(job as JobContext<CommitsPayload>, collector, request, statistics)
  },
})
