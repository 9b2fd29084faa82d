/**
 * Discovery: the user's repositories in two orders, one after the other. A list that shifts while it is read can hide a repository from one order, hardly
 * from both; what either shows is taken once, by its id. Each page starts at once what its repositories need.
 *
 * What neither order listed is asked for by id when both have ended.
 */
import { defineKind, done, type JobRequest, type Outcome } from '@sluice/engine'
import { countCost, halve } from '@sluice/github'
import { z } from 'zod'
import { readCursor } from '../cursor/cursor.ts'
import { findUnlisted, storeRepositories } from '../repository/repository.ts'
import { ask } from './ask.ts'
import { childJobs } from './child-jobs.ts'
import { fanOut } from './fan-out.ts'
import { discoveryAnswer, discoveryPage, discoveryQuery, readDiscovery } from './graphql/discovery.ts'
import { judgeListed } from './judge-listed.ts'
import { patient, priorities, scope, wholePage } from './list-item.ts'
import { ownPullRequests } from './own-pull-requests.ts'
import { verifyRequest } from './verify-request.ts'
import type { Services, Workshop } from './workshop.ts'

const payload = z.object({
  ...scope,
  user: z.string().min(1).max(200),
  strategy: z.enum(['graphql', 'rest']),
  by: z.enum(['PUSHED_AT', 'UPDATED_AT']),
  first: z.int().min(1).max(100).default(discoveryPage),
  after: z.string().max(1_000).optional(),
  start: z.iso.datetime({ offset: true }).optional(),
})

export const repositories = defineKind('github.repositories', {
  payload,
  priority: priorities.discovery,
  retry: patient,
  lane: 'github:{owner}:graphql',
  async run(job, { collector }: Services): Promise<Outcome> {
    const { collection, run, user, by, first, after, start } = job.payload
    const own = { owner: job.owner as string }
    const again = (more: Partial<typeof job.payload>): JobRequest => repositories({ ...job.payload, ...more }, own)
    const variables = { user, first, after: after ?? null, by, of: collector.settings.affiliations }
    const less = () => {
      const fewer = halve(first)
      return fewer === undefined ? undefined : [again({ first: fewer })]
    }
    const { points } = countCost(discoveryQuery, variables)
    const asked = await ask(job, collector, { text: discoveryQuery, variables, points }, { schema: discoveryAnswer, less })
    if (asked.type !== 'ok') return asked.type === 'over' ? asked.outcome : done()
    const page = readDiscovery(asked.data)
    if (!page) throw new Error('GitHub does not show the user')
    const settings = { overlapMs: collector.settings.overlapMs, start: start === undefined ? undefined : new Date(start) }
    const { rows, fresh } = await judgeListed(collector, { collection, run }, page.found)
    const wanted = fresh.map(({ row, sight, marks }) => ({ id: row.id, node: row.nodeId, lists: fanOut(sight, marks, settings) }))
    const ending = page.next === undefined && by === 'UPDATED_AT'
    const listed = new Set(rows.map(({ id }) => id))
    return done({
      write: (tx) => storeRepositories(tx, collection, rows, run),
      next: [
        ...childJobs({ collection, run }, own.owner, wanted),
        ...(after === undefined && by === 'PUSHED_AT'
          ? await ownPulls(collector, job.payload, page.ownPulls, settings, own)
          : []),
        ...(page.next !== undefined ? [again({ after: page.next })] : []),
        ...(page.next === undefined && by === 'PUSHED_AT' ? [again({ by: 'UPDATED_AT', after: undefined })] : []),
        ...(ending ? await unlisted(collector, { collection, run }, listed, job) : []),
      ],
    })
  },
})

async function ownPulls(
  { engine }: Workshop,
  { collection, run, user }: z.output<typeof payload>,
  seen: { count: number; newestAt: string | null } | undefined,
  settings: { overlapMs: number; start: Date | undefined },
  own: { owner: string },
): Promise<JobRequest[]> {
  const mark = await readCursor(engine, collection, 'own-pull-requests')
  const sight = { head: null, issues: undefined, pulls: seen }
  const { pulls: walk } = fanOut(sight, { commits: undefined, issues: undefined, pulls: mark }, settings)
  if (!walk) return []
  const { since, newestAt } = walk
  return [ownPullRequests({ collection, run, user, first: wholePage, newestAt, ...(since === undefined ? {} : { since }) }, own)]
}

/** Those of this page are stored only when the job ends, so they are left out here. */
async function unlisted(
  { engine }: Workshop,
  { collection, run }: { collection: number; run: number },
  listed: ReadonlySet<number>,
  job: { owner: string | undefined; run: number | undefined },
): Promise<JobRequest[]> {
  const missing = [...(await findUnlisted(engine, collection, run)).values()]
  return missing
    .filter(({ id, state }) => !listed.has(id) && (state === 'active' || state === 'empty'))
    .map(({ id }) => verifyRequest({ collection, run, id }, job))
}
