/** The statistics of one commit, by REST: what the strategy `rest` asks for each, and GraphQL for those that were too heavy for it. */
import { defineKind, done, type Outcome } from '@sluice/engine'
import { z } from 'zod'
import { storeCommitStatistics } from '../commit/commit.ts'
import { ask } from './ask.ts'
import { number, patient, priorities, scope } from './list-item.ts'
import type { Services } from './workshop.ts'

const count = z.int().min(0)
const answer = z.object({
  stats: z.object({ additions: count, deletions: count }),
  files: z.array(z.unknown()).optional(),
})
/** A page of files is at most this long: a commit that fills it has more. */
const filesMax = 300
const payload = z.object({ ...scope, id: number, sha: z.string().min(1).max(100), link: z.string().max(2_000).optional() })

export const commitStatistics = defineKind('github.commit-statistics', {
  payload,
  priority: priorities.child,
  retry: patient,
  lane: 'github:{owner}:core',
  async run(job, { collector }: Services): Promise<Outcome> {
    const { collection, run, id, sha, link } = job.payload
    const path = link ?? `/repositories/${id}/commits/${encodeURIComponent(sha)}`
    const asked = await ask(
      job,
      collector,
      { path },
      {
        schema: answer,
        repository: { collection, run, id },
        moved: (to) => commitStatistics({ ...job.payload, link: to }, { owner: job.owner as string }),
      },
    )
    if (asked.type !== 'ok') return asked.type === 'over' ? asked.outcome : done()
    const { stats, files } = asked.data
    const changedFiles = files && files.length < filesMax ? files.length : null
    return done({ write: (tx) => storeCommitStatistics(tx, collection, id, [{ sha, ...stats, changedFiles }]) })
  },
})
