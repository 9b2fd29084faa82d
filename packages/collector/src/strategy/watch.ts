/**
 * The watch over a switch: at the end of each run under it, in the transaction of the finalizer, it is judged. What did worse is taken back there and then, so
 * that the next run reads as before; data and cursors stay.
 */
import { type Engine, onClient, type TransactionClient } from '@sluice/engine'
import { ownerOf } from '../request/run-names.ts'
import { chooseStrategy } from '../user/user.ts'
import { judgeSwitch, type WatchedRun, type WatchLimits } from './judge-switch.ts'
import { strategyRolledBack } from './rolled-back.ts'
import { endRecord, readBefore, readWatched } from './run-record.ts'
import { insertSwitch, lockWatching, type Switch, settleSwitch } from './switch.ts'

/** As many of the last runs before a switch tell what is usual. */
const usualRuns = 5
/** One user's bad day is not everybody's: a switch for all takes more runs. */
const forAll = { runsLeast: 3, times: 5 } as const

export interface WatchSettings {
  readonly errorRate: number
  readonly times: number
  readonly slackMs: number
  readonly runs: number
}

export async function watchRun(
  engine: Engine,
  tx: TransactionClient,
  ended: { run: number; jobs: number; failed: number },
  settings: WatchSettings,
): Promise<void> {
  const record = await endRecord(tx, ended)
  if (!record || record.watched === null) return
  const watched = await lockWatching(tx, record.watched)
  if (!watched) return
  const runs: WatchedRun[] = []
  for (const run of await readWatched(onClient(tx), watched.id))
    runs.push({ ...run, before: await readBefore(onClient(tx), run.userId, watched.madeAt, watched.from, usualRuns) })
  const verdict = judgeSwitch(runs, limitsOf(watched, settings))
  if (verdict.type === 'keep') await settleSwitch(tx, watched.id, 'kept', null)
  if (verdict.type === 'roll back') await rollBack(engine, tx, watched, verdict.reason)
}

function limitsOf({ userId }: Switch, { runs, ...limits }: WatchSettings): WatchLimits {
  return userId === null
    ? { ...limits, runsLeast: forAll.runsLeast, runsTimed: Math.max(runs, forAll.runsLeast), runsMost: runs * forAll.times }
    : { ...limits, runsLeast: 1, runsTimed: runs, runsMost: runs }
}

async function rollBack(engine: Engine, tx: TransactionClient, watched: Switch, reason: string): Promise<void> {
  const { id, userId, previous, chosen, from, to } = watched
  await settleSwitch(tx, id, 'rolled back', reason)
  await insertSwitch(tx, { userId, previous: chosen, chosen: previous, from: to, to: from, madeBy: 'watch', reason })
  if (userId !== null) await chooseStrategy(tx, userId, previous)
  const owner = userId === null ? {} : { owner: ownerOf(userId) }
  await engine.publish(strategyRolledBack({ switch: id, userId, from: to, to: from, reason }, owner), { client: tx })
}
