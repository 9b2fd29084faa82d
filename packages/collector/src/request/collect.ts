/**
 * A collection: profile, events and repositories to begin with, and whatever they lead to. When all of it has ended, well or not, the statistics are computed
 * once, in the transaction that completes the run. A page that died loses nothing: its cursor has not moved, and the next run reads it again.
 *
 * A shadow is the same for another body of data, and counts for nobody.
 */
import {
  defineRun,
  delays,
  done,
  type JobContext,
  type JobRequest,
  type Outcome,
  type RetryPolicy,
  type RunKind,
  type RunSummary,
} from '@sluice/engine'
import sql from 'sql-template-tag'
import { z } from 'zod'
import { findCollection, findLiveCollection, type Strategy } from '../collection/collection.ts'
import { Statistics } from '../statistics/statistics.ts'
import { findUser } from '../user/user.ts'
import { profile } from '../walk/profile.ts'
import { repositories } from '../walk/repositories.ts'
import type { Services } from '../walk/workshop.ts'
import { ownerOf, runNames } from './run-names.ts'

export const collectPayload = z.object({
  userId: z.int().min(1),
  collection: z.int().min(1).optional(),
  start: z.iso.datetime({ offset: true }).optional(),
})
type Payload = z.output<typeof collectPayload>

/** Before statistics that cannot be computed are a dead letter. */
export const finalizerRetry: RetryPolicy = delays(['1m', '2m', '4m', '8m', '16m'])

async function plan({ payload, run }: JobContext<Payload>, { collector }: Services): Promise<Outcome> {
  const { engine, settings } = collector
  const user = await findUser(engine, payload.userId)
  const { rows } = await engine.query<{ node: string }>(
    sql`select node_id as node from collector.users where id = ${payload.userId}`,
  )
  const node = rows[0]?.node
  const collection = await (payload.collection === undefined
    ? findLiveCollection(engine, payload.userId)
    : findCollection(engine, payload.collection))
  if (!user || !node || !collection) throw new Error(`There is no user ${payload.userId} with such a collection`)
  const strategy: Strategy = collection.purpose === 'shadow' ? collection.strategy : (user.strategy ?? settings.strategy)
  const scope = { collection: collection.id, run: run as number }
  const own = { owner: ownerOf(user.id) }
  const start = payload.start === undefined ? {} : { start: payload.start }
  const next: JobRequest[] = [
    profile(scope, own),
    repositories({ ...scope, user: node, strategy, by: 'PUSHED_AT', ...start }, own),
  ]
  return done({ next })
}

export async function computeStatistics(
  { payload: { run, payload } }: JobContext<RunSummary<{ userId: number }>>,
  { collector: { engine } }: Services,
): Promise<Outcome> {
  const statistics = new Statistics(engine)
  return done({
    write: async (tx) => {
      await statistics.compute(tx, payload.userId, run)
      await statistics.computeGlobal(tx, run)
    },
  })
}

export const collect: RunKind<typeof collectPayload> = defineRun(runNames.collect, {
  payload: collectPayload,
  retry: finalizerRetry,
  plan,
  finalize: computeStatistics,
})

export const shadow: RunKind<typeof collectPayload> = defineRun(runNames.shadow, {
  payload: collectPayload,
  retry: finalizerRetry,
  plan,
})
