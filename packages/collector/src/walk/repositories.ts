/**
 * Discovery: the user's repositories in two orders, one after the other. A list that shifts while it is read can hide a repository from one order, hardly
 * from both; what either shows is taken once, by its id. Each page starts at once what its repositories need.
 *
 * What neither order listed is asked for by id when both have ended.
 */
import { defineKind, done, type JobContext, type JobRequest, type Outcome } from '@sluice/engine'
import { stepOn } from '@sluice/github'
import { readCursor } from '../cursor/cursor.ts'
import { findUnlisted, storeRepositories } from '../repository/repository.ts'
import { findBare } from './bare-commits.ts'
import { childJobs, restChildJobs } from './child-jobs.ts'
import { commitStatistics } from './commit-statistics.ts'
import { discover } from './discover.ts'
import { forgetCommits } from './end-commit-walk.ts'
import { fanOut, type ListSight } from './fan-out.ts'
import { judgeListed } from './judge-listed.ts'
import { patient, priorities, wholePage } from './list-item.ts'
import { ownPullRequests } from './own-pull-requests.ts'
import { type RepositoriesPayload, repositoriesPayload } from './repositories-payload.ts'
import { verifyRequest } from './verify-request.ts'
import type { Services, Workshop } from './workshop.ts'

export const repositories = defineKind('github.repositories', {
  payload: repositoriesPayload,
  priority: priorities.discovery,
  retry: patient,
  lane: ({ payload: { strategy }, owner = '' }) => `github:${owner}:${strategy === 'rest' ? 'core' : 'graphql'}`,
  async run(job, { collector }: Services): Promise<Outcome> {
    const { collection, run, strategy } = job.payload
    const owner = job.owner as string
    const again = (more: Partial<RepositoriesPayload>): JobRequest => repositories({ ...job.payload, ...more }, { owner })
    const discovery = await discover(job, collector, again)
    if (discovery.type === 'over') return discovery.outcome
    const { page } = discovery
    const { rows, readable } = await judgeListed(collector, { collection, run }, page.found)
    const settings = settingsOf(job.payload, collector)
    const children =
      strategy === 'rest'
        ? restChildJobs({ collection, run }, owner, readable)
        : childJobs(
            { collection, run },
            owner,
            readable.map(({ row, sight, marks }) => ({ id: row.id, node: row.nodeId, lists: fanOut(sight, marks, settings) })),
          )
    const others = await nextOrEnd(job, collector, page, new Set(page.found.map(({ row }) => row.id)), again)
    const emptied = readable.filter(({ state, marks }) => state === 'empty' && marks.commits?.head).map(({ row }) => row.id)
    return done({
      write: async (tx) => {
        await storeRepositories(tx, collection, rows, run)
        for (const id of emptied) await forgetCommits(tx, collection, id, run)
      },
      next: [...children, ...others],
    })
  },
})

async function nextOrEnd(
  job: JobContext<RepositoriesPayload>,
  collector: Workshop,
  page: { readonly next: string | undefined; readonly ownPulls: ListSight | undefined },
  listed: ReadonlySet<number>,
  again: (more: Partial<RepositoriesPayload>) => JobRequest,
): Promise<JobRequest[]> {
  const { by, after, trail, strategy } = job.payload
  const own = by === 'PUSHED_AT' && after === undefined ? await ownPulls(job, collector, page.ownPulls) : []
  if (page.next !== undefined) {
    const step = strategy === 'rest' ? stepOn(trail, page.next) : undefined
    return [...own, again({ after: page.next, trail: step === 'loop' ? undefined : step })]
  }
  if (by === 'PUSHED_AT') return [...own, again({ by: 'UPDATED_AT', after: undefined, trail: undefined })]
  return [...own, ...(await leftOver(job, collector, listed))]
}

async function ownPulls(
  { payload: from, owner }: JobContext<RepositoriesPayload>,
  collector: Workshop,
  seen: ListSight | undefined,
): Promise<JobRequest[]> {
  const { collection, run, user } = from
  const mark = await readCursor(collector.engine, collection, 'own-pull-requests')
  const sight = { head: null, issues: undefined, pulls: seen }
  const { pulls: walk } = fanOut(sight, { commits: undefined, issues: undefined, pulls: mark }, settingsOf(from, collector))
  if (!walk) return []
  const { since, newestAt } = walk
  const wanted = { collection, run, user, first: wholePage, newestAt, ...(since === undefined ? {} : { since }) }
  return [ownPullRequests(wanted, { owner: owner as string })]
}

/** What neither order listed, and statistics that an earlier run did not get. The rows of this page are stored only when the job ends. */
async function leftOver(
  job: JobContext<RepositoriesPayload>,
  { engine }: Workshop,
  listed: ReadonlySet<number>,
): Promise<JobRequest[]> {
  const { collection, run } = job.payload
  const missing = [...(await findUnlisted(engine, collection, run)).values()]
  const bare = await findBare(engine, collection, run)
  return [
    ...missing
      .filter(({ id, state }) => !listed.has(id) && (state === 'active' || state === 'empty'))
      .map(({ id }) => verifyRequest({ collection, run, id }, job)),
    ...bare.map(({ id, sha }) => commitStatistics({ collection, run, id, sha }, { owner: job.owner as string })),
  ]
}

function settingsOf({ start }: RepositoriesPayload, { settings }: Workshop): { overlapMs: number; start: Date | undefined } {
  return { overlapMs: settings.overlapMs, start: start === undefined ? undefined : new Date(start) }
}
