/**
 * Commits of one slice of time. They are stored as seen by no walk: a walk that reads the repository whole decides whether they are still reachable. If one of
 * them was not known, the cursor forgets its head, so that the next walk is such a one.
 */
import { defineKind, type JobRequest, type Outcome } from '@sluice/engine'
import { countCost, halve } from '@sluice/github'
import { z } from 'zod'
import { knownShas, storeCommits } from '../commit/commit.ts'
import { moveCursor, readCursor } from '../cursor/cursor.ts'
import { ask } from '../walk/ask.ts'
import { lighten } from '../walk/batches.ts'
import { readBatch } from '../walk/graphql/batch.ts'
import { commitRows, commitsAnswer, commitsQuery } from '../walk/graphql/commits.ts'
import { settleBatch } from '../walk/graphql/settle-batch.ts'
import { listItem, patient, priorities, scope, wholePage } from '../walk/list-item.ts'
import type { Services } from '../walk/workshop.ts'

const time = z.iso.datetime({ offset: true })
const item = z.object({ ...listItem, head: z.string().min(1).max(100) })
const payload = z.object({ ...scope, since: time, until: time, items: z.array(item).min(1).max(50) })
type Item = z.output<typeof item>

/** The walk of nobody. */
const noWalk = 0

export const backfillCommits = defineKind('collector.backfill-commits', {
  payload,
  priority: priorities.child,
  retry: patient,
  lane: 'github:{owner}:graphql',
  cost: ({ since, until, items }) => countCost(textOf(items, since, until).query).points,
  async run(job, { collector }: Services): Promise<Outcome> {
    const { collection, items, since, until } = job.payload
    const { engine } = collector
    const request = (some: readonly Item[]): JobRequest =>
      backfillCommits({ ...job.payload, items: [...some] }, { owner: job.owner as string })
    const { query, variables } = textOf(items, since, until)
    const less = (): JobRequest[] | undefined => lighten(items, halve)?.map(request)
    const asked = await ask(
      job,
      collector,
      { text: query, variables, points: countCost(query).points },
      { schema: z.unknown(), less },
    )
    if (asked.type !== 'ok') return asked.type === 'over' ? asked.outcome : { type: 'done' }
    const parts = readBatch(asked.data, asked.errors, items.length, commitsAnswer)
    return settleBatch(
      job,
      parts,
      async (one, { object }) => {
        if (!object) return {}
        const { nodes, pageInfo } = object.history
        const rows = commitRows(nodes)
        const known = await knownShas(
          engine,
          collection,
          one.id,
          rows.map(({ sha }) => sha),
        )
        const cursor = await readCursor(engine, collection, 'commits', one.id)
        const after = pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined
        return {
          write: async (tx) => {
            await storeCommits(tx, collection, one.id, rows, noWalk)
            const forget = { resource: 'commits' as const, subject: one.id, head: null, total: null }
            if (rows.some(({ sha }) => !known.has(sha))) await moveCursor(tx, collection, forget, cursor?.run ?? noWalk)
          },
          next: after === undefined ? [] : [request([{ ...one, after, first: wholePage }])],
        }
      },
      (one) => request([one]),
    )
  },
})

function textOf(items: readonly Item[], since: string, until: string) {
  return commitsQuery(items.map((one) => ({ ...one, since, until })))
}
