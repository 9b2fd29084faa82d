/**
 * Reads a stretch of the past once more, [from, to), for the repositories that are known. Commits come slice by slice, by the date on which they were
 * committed; issues and pull requests have no end date to ask for, so each list is read once, from the beginning of the stretch on. Events are left out,
 * because GitHub forgets them after 30 days. Nothing here moves a cursor forward.
 */
import { defineRun, done, type Outcome, type RunKind } from '@sluice/engine'
import { z } from 'zod'
import { findLiveCollection } from '../collection/collection.ts'
import { findRepositories } from '../repository/repository.ts'
import { computeStatistics, finalizerRetry } from '../request/collect.ts'
import { ownerOf, runNames } from '../request/run-names.ts'
import { childJobs } from '../walk/child-jobs.ts'
import { changedGuess } from '../walk/fan-out.ts'
import type { Services } from '../walk/workshop.ts'
import { backfillSlice } from './slice.ts'

const time = z.iso.datetime({ offset: true })
const payload = z.object({ userId: z.int().min(1), from: time, to: time, slice: z.enum(['day', 'hour']) })

export const backfill: RunKind<typeof payload> = defineRun(runNames.backfill, {
  payload,
  retry: finalizerRetry,
  async plan({ payload: { userId, from, to, slice }, run }, { collector: { engine } }: Services): Promise<Outcome> {
    const collection = await findLiveCollection(engine, userId)
    if (!collection) throw new Error(`There is no user ${userId}`)
    const scope = { collection: collection.id, run: run as number }
    const owner = ownerOf(userId)
    const known = [...(await findRepositories(engine, collection.id)).values()].filter(
      ({ state }) => state === 'active' || state === 'empty',
    )
    const list = { since: from, newestAt: null, expected: changedGuess, keep: true }
    const wanted = known.map(({ id, nodeId, hasIssues, hasPullRequests }) => ({
      id,
      node: nodeId,
      lists: { commits: undefined, issues: hasIssues ? list : undefined, pulls: hasPullRequests ? list : undefined },
    }))
    return done({ next: [backfillSlice({ ...scope, from, to, slice, at: 0 }, { owner }), ...childJobs(scope, owner, wanted)] })
  },
  finalize: computeStatistics,
})
