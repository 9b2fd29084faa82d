/** Commits of repositories: of several at once where few are to come, of one where many are. */
import { defineKind, type JobContext, type JobRequest, type Outcome } from '@sluice/engine'
import { countCost } from '@sluice/github'
import { commitStatistics } from './commit-statistics.ts'
import { type CommitsItem, type CommitsPayload, commitsPayload } from './commits-payload.ts'
import { commitsQuery } from './graphql/commits.ts'
import { walkCommits } from './graphql/walk-commits.ts'
import { isRest, laneOfStrategy, patient, priorities } from './list-item.ts'
import { walkRestCommits } from './rest/walk-commits.ts'
import type { Services } from './workshop.ts'

export const commits = defineKind('github.commits', {
  payload: commitsPayload,
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
