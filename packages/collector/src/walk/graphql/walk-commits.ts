/** A page of commits of one or several repositories, by GraphQL: what was seen is stored, and the walk stops as soon as nothing new can be left. */
import type { JobContext, JobRequest, Outcome } from '@sluice/engine'
import { countCost, halve } from '@sluice/github'
import { z } from 'zod'
import { knownShas, storeCommits } from '../../commit/commit.ts'
import { readCursor } from '../../cursor/cursor.ts'
import { ask } from '../ask.ts'
import { lighten } from '../batches.ts'
import { type CommitWalk, stepCommitWalk } from '../commit-walk.ts'
import type { CommitsPayload, CommitsItem as Item } from '../commits-payload.ts'
import { endOrGoOn } from '../end-commit-walk.ts'
import { wholePage } from '../list-item.ts'
import type { Workshop } from '../workshop.ts'
import { readBatch } from './batch.ts'
import { commitRows, commitsAnswer, commitsQuery } from './commits.ts'
import { type Read, settleBatch } from './settle-batch.ts'

/** After a page that was too heavy even alone. */
const carefulPage = 10

export async function walkCommits(
  job: JobContext<CommitsPayload>,
  workshop: Workshop,
  request: (items: readonly Item[]) => JobRequest,
  statistics: (id: number, sha: string) => JobRequest,
): Promise<Outcome> {
  const { items, collection, run } = job.payload
  const { query, variables } = commitsQuery(items)
  const less = (): JobRequest[] | undefined => smaller(items)?.map(request)
  const asked = await ask(
    job,
    workshop,
    { text: query, variables, points: countCost(query).points },
    { schema: z.unknown(), less },
  )
  if (asked.type !== 'ok') return asked.type === 'over' ? asked.outcome : { type: 'done' }
  const parts = readBatch(asked.data, asked.errors, items.length, commitsAnswer)
  const read = async (item: Item, { object }: z.output<typeof commitsAnswer>): Promise<Read> => {
    // The head is gone altogether: the next discovery sees another one.
    if (!object) return {}
    const { nodes, pageInfo, totalCount } = object.history
    const rows = commitRows(nodes)
    const cursor = await readCursor(workshop.engine, collection, 'commits', item.id)
    if ((cursor?.run ?? 0) > run) return {}
    const known = await knownShas(
      workshop.engine,
      collection,
      item.id,
      rows.map(({ sha }) => sha),
    )
    const page = { commits: rows, total: totalCount, hasNext: pageInfo.hasNextPage && pageInfo.endCursor !== null }
    const step = stepCommitWalk(item.walk, page, (sha) => known.has(sha))
    const after = pageInfo.endCursor ?? undefined
    return {
      write: async (tx) => {
        await storeCommits(tx, collection, item.id, rows, run)
        await endOrGoOn(tx, { collection, run, id: item.id, walk: item.walk, step, place: after })
      },
      next: [
        ...(item.bare ? rows.map(({ sha }) => statistics(item.id, sha)) : []),
        ...(step.type === 'go on' ? [request([nextItem(item, step.walk, after)])] : []),
      ],
    }
  }
  return settleBatch(job, parts, read, (item) => request([item]))
}

function nextItem({ bare, pageMax = wholePage, ...item }: Item, walk: CommitWalk, after: string | undefined): Item {
  const first = bare ? Math.min(carefulPage, pageMax) : pageMax
  return { ...item, pageMax: bare ? carefulPage : pageMax, first, walk, ...(after === undefined ? {} : { after }) }
}

function smaller(items: readonly Item[]): Item[][] | undefined {
  const halves = lighten(items, halve)
  if (halves)
    return halves.map((list) =>
      list.length === 1 && items.length === 1 ? list.map((item) => ({ ...item, pageMax: item.first })) : list,
    )
  const [item] = items
  return item && !item.bare ? [[{ ...item, bare: true }]] : undefined
}
