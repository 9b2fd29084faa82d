/**
 * A collection: profile, events and repositories to begin with, and whatever they lead to. When all of it has ended, well or not, the statistics are computed
 * once, in the transaction that completes the run. A page that died loses nothing: its cursor has not moved, and the next run reads it again.
 *
 * The strategy is chosen here, once, and the jobs carry it: whatever is switched meanwhile, a run ends as it began.
 */
import {
  defineRun,
  delays,
  done,
  type Engine,
  fail,
  type JobContext,
  type JobRequest,
  type Outcome,
  type RetryPolicy,
  type RunKind,
  type RunSummary,
  type TransactionClient,
} from '@sluice/engine'
import sql from 'sql-template-tag'
import { z } from 'zod'
import { findCollection, findLiveCollection } from '../collection/collection.ts'
import { foldSpent } from '../spent/spent.ts'
import { Statistics } from '../statistics/statistics.ts'
import { chooseForRun } from '../strategy/choose.ts'
import { beginRecord, findPoorerSince } from '../strategy/run-record.ts'
import { watchRun } from '../strategy/watch.ts'
import { findElsewhere } from '../user/same-github.ts'
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

export async function plan({ payload, run }: JobContext<Payload>, { collector }: Services): Promise<Outcome> {
  const { engine, settings, github } = collector
  const user = await findUser(engine, payload.userId)
  const { rows } = await engine.query<{ node: string }>(
    sql`select node_id as node from collector.users where id = ${payload.userId}`,
  )
  const node = rows[0]?.node
  const collection = await (payload.collection === undefined
    ? findLiveCollection(engine, payload.userId)
    : findCollection(engine, payload.collection))
  if (!user || !node || !collection) throw new Error(`There is no user ${payload.userId} with such a collection`)
  const elsewhere = findElsewhere(user, github)
  if (elsewhere) return fail(elsewhere)
  const { strategy, watched } =
    collection.purpose === 'shadow'
      ? { strategy: collection.strategy, watched: null }
      : await chooseForRun(engine, user, settings.strategy)
  const scope = { collection: collection.id, run: run as number }
  const own = { owner: ownerOf(user.id) }
  const start = strategy === 'graphql' ? earliest(payload.start, await findPoorerSince(engine, collection.id)) : payload.start
  const next: JobRequest[] = [
    profile(scope, own),
    repositories({ ...scope, user: node, strategy, by: 'PUSHED_AT', ...(start === undefined ? {} : { start }) }, own),
  ]
  const record = { ...scope, userId: user.id, strategy, watched }
  return done({ next, write: (tx) => beginRecord(tx, record) })
}

/** What REST read meanwhile lacks what only GraphQL tells, so a walk looks back to when that began; null: to the very beginning. */
function earliest(start: string | undefined, poorer: Date | null | undefined): string | undefined {
  if (poorer === undefined) return start
  const since = (poorer ?? new Date(0)).toISOString()
  return start === undefined || since < start ? since : start
}

type Summary<P> = JobContext<RunSummary<P>>

/** Of a run that changed the live collection. */
export async function computeStatistics(
  { payload: { run, payload } }: Summary<{ userId: number }>,
  { collector: { engine } }: Services,
): Promise<Outcome> {
  return done({ write: (tx) => writeStatistics(engine, tx, payload.userId, run) })
}

async function writeStatistics(engine: Engine, tx: TransactionClient, userId: number, run: number): Promise<void> {
  const statistics = new Statistics(engine)
  await statistics.compute(tx, userId, run)
  await statistics.computeGlobal(tx, run)
  await foldSpent(tx, run)
}

async function finalize(
  { payload: { run, payload, total, failed } }: Summary<Payload>,
  { collector }: Services,
): Promise<Outcome> {
  const { engine, settings } = collector
  return done({
    write: async (tx) => {
      await writeStatistics(engine, tx, payload.userId, run)
      await watchRun(engine, tx, { run, jobs: total, failed }, settings.watch)
    },
  })
}

export const collect: RunKind<typeof collectPayload> = defineRun(runNames.collect, {
  payload: collectPayload,
  retry: finalizerRetry,
  plan,
  finalize,
})
