/** One slice of a backfill: the commits of every repository that can have any in it, and then the next slice. */
import { defineKind, done, type Outcome } from '@sluice/engine'
import { z } from 'zod'
import { findRepositories } from '../repository/repository.ts'
import { inBatches } from '../walk/batches.ts'
import { priorities, scope } from '../walk/list-item.ts'
import type { Services } from '../walk/workshop.ts'
import { backfillCommits } from './commits.ts'
import { sliceAt } from './slices.ts'

const time = z.iso.datetime({ offset: true })
/** Few commits are to be expected of a day; who has more goes on alone. */
const first = 10
const batching = { lists: 20, rows: 200, perRow: 0 }

export const backfillSlice = defineKind('collector.backfill-slice', {
  payload: z.object({ ...scope, from: time, to: time, slice: z.enum(['day', 'hour']), at: z.int().min(0) }),
  priority: priorities.discovery,
  async run({ payload, owner }, { collector: { engine } }: Services): Promise<Outcome> {
    const { collection, run, slice, at } = payload
    const range = { from: new Date(payload.from), to: new Date(payload.to) }
    const now = sliceAt(range, slice, at)
    if (!now) return done()
    const own = { owner: owner as string }
    const known = [...(await findRepositories(engine, collection)).values()]
    const items = known.flatMap(({ id, nodeId, head, state, pushedAt }) =>
      // Nobody commits after the last push; a date in the future is a clock that is wrong.
      head !== null && state === 'active' && (pushedAt === null || pushedAt >= now.from)
        ? [{ id, node: nodeId, head, first }]
        : [],
    )
    // GitHub takes both ends in, to the second.
    const times = { since: now.from.toISOString(), until: new Date(now.to.getTime() - 1_000).toISOString() }
    return done({
      next: [
        ...inBatches(items, batching).map((batch) => backfillCommits({ collection, run, ...times, items: batch }, own)),
        ...(sliceAt(range, slice, at + 1) ? [backfillSlice({ ...payload, at: at + 1 }, own)] : []),
      ],
    })
  },
})
