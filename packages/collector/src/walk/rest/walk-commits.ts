/**
 * A page of a repository's commits by REST. The first page is that of the branch, with an ETag, so that a repository without a push is free; all others hang
 * on the head that it showed. Lists have no statistics: each new commit gets a job of its own.
 */
import { done, type JobContext, type JobRequest, type Outcome } from '@sluice/engine'
import { z } from 'zod'
import { knownShas, storeCommits } from '../../commit/commit.ts'
import { keepEtag, moveCursor, readCursor } from '../../cursor/cursor.ts'
import { ask } from '../ask.ts'
import { beginCommitWalk, stepCommitWalk } from '../commit-walk.ts'
import type { RestCommitsPayload } from '../commits-payload.ts'
import { endOrGoOn } from '../end-commit-walk.ts'
import { wholePage } from '../list-item.ts'
import type { Workshop } from '../workshop.ts'
import { account, follow, time } from './shapes.ts'

const sha = z.string().min(1).max(100)
const commit = z.object({
  sha,
  commit: z.object({ message: z.string(), author: z.object({ date: time }).nullish(), committer: z.object({ date: time }) }),
  author: account,
  parents: z.array(z.object({ sha })),
})

export async function walkRestCommits(
  job: JobContext<RestCommitsPayload>,
  workshop: Workshop,
  request: (rest: RestCommitsPayload['rest']) => JobRequest,
  statistics: (id: number, sha: string) => JobRequest,
): Promise<Outcome> {
  const { collection, run, rest } = job.payload
  const { engine } = workshop
  const path = rest.link ?? `/repositories/${rest.id}/commits`
  const cursor = await readCursor(engine, collection, 'commits', rest.id)
  if ((cursor?.run ?? 0) > run) return done()
  const broken = cursor?.place !== null
  const first = rest.walk === undefined
  const query = rest.link ? {} : { query: { per_page: wholePage, ...(first ? {} : { sha: rest.walk?.head, page: 2 }) } }
  const asked = await ask(
    job,
    workshop,
    { path, ...query, ...(first && !broken ? { etag: cursor } : {}) },
    {
      schema: z.array(commit),
      repository: { collection, run, id: rest.id },
      moved: (link) => request({ ...rest, link }),
    },
  )
  const resource = { resource: 'commits' as const, subject: rest.id }
  const read = { ...resource, since: rest.changedAt }
  if (asked.type === 'not modified') return done({ write: (tx) => moveCursor(tx, collection, read, run) })
  if (asked.type === 'over') return asked.outcome
  const head = rest.walk?.head ?? asked.data[0]?.sha
  if (head === undefined) return done()
  const known = await knownShas(
    engine,
    collection,
    rest.id,
    asked.data.flatMap((one) => [one.sha, ...one.parents.map((parent) => parent.sha)]),
  )
  const old = broken || !cursor?.head || cursor.total === null ? undefined : { head: cursor.head, total: cursor.total }
  const walk = rest.walk ?? beginCommitWalk(head, old)
  const commits = asked.data.map((one) => ({ sha: one.sha, parents: one.parents.map((parent) => parent.sha) }))
  const step = stepCommitWalk(walk, { commits, hasNext: asked.next !== undefined }, (one) => known.has(one))
  const rows = asked.data.map((one) => ({
    sha: one.sha,
    authorId: one.author?.id ?? null,
    authoredAt: one.commit.author?.date ?? one.commit.committer.date,
    committedAt: one.commit.committer.date,
    additions: null,
    deletions: null,
    changedFiles: null,
    message: one.commit.message,
  }))
  const etag = first ? asked.etag : rest.etag
  // The link of the first page is that of the branch, which may move on; the second page hangs on the head.
  const further = first ? {} : follow(rest, asked.next)
  return done({
    write: async (tx) => {
      await storeCommits(tx, collection, rest.id, rows, run)
      await endOrGoOn(tx, { collection, run, id: rest.id, walk, step, place: asked.next })
      if (step.type === 'go on') return
      await moveCursor(tx, collection, read, run)
      await keepEtag(tx, collection, resource, etag ?? null, run)
    },
    next: [
      ...rows.filter((row) => !known.has(row.sha)).map((row) => statistics(rest.id, row.sha)),
      ...(step.type === 'go on' ? [request({ id: rest.id, changedAt: rest.changedAt, walk: step.walk, etag, ...further })] : []),
    ],
  })
}
