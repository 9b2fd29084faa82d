/**
 * What `status` tells: counts, processes, and what somebody should look at.
 */
import type { Dispatch, Engine, Overview, SeenWorker } from '@sluice/engine'
import { isOnlooker } from '@sluice/server'
import { span } from '../terminal/times.ts'
import { findGoneLeader } from '../workers/gone-leader.ts'
import { describeAway } from './dispatch.ts'
import { describePauses, describeTroubled, readStill, type Standing, type Troubled } from './still.ts'

export interface Status extends Omit<Overview, 'workers' | 'oldestReady'> {
  readonly oldestReady: Overview['oldestReady'] | null
  readonly processes: Overview['workers']
  readonly workers: readonly SeenWorker[]
  /** Who hands out the jobs: of which process, since when, and what Redis holds. */
  readonly dispatch: Dispatch
  /** What somebody paused, schedules too. */
  readonly pauses: readonly Standing[]
  /** Schedules that an error keeps from firing. */
  readonly troubled: readonly Troubled[]
  /** Sentences, the worst first. Empty when all is well. */
  readonly concerns: readonly string[]
}

export async function readStatus(engine: Engine): Promise<Status> {
  const [{ workers: _, oldestReady = null, ...overview }, all, still] = await Promise.all([
    engine.inspect.overview(),
    engine.inspect.workers(),
    readStill(engine),
  ])
  const workers = all.filter((one) => !isOnlooker(one))
  const count = (state: SeenWorker['state']): number => workers.filter((one) => one.state === state).length
  const processes = { alive: count('alive'), stopping: count('stopping'), lost: count('lost') }
  const dispatch = await engine.dispatch(overview.pools.map(({ name }) => name))
  const seen = { ...overview, processes, workers, dispatch, ...still }
  return { ...seen, oldestReady, concerns: findConcerns(seen) }
}

const patienceMs = 60_000

export function findConcerns({
  at,
  jobs,
  pools,
  leader,
  processes,
  workers: live,
  dispatch,
  pauses,
  troubled,
}: Omit<Status, 'concerns' | 'oldestReady'>): string[] {
  const concerns: string[] = []
  const alive = processes.alive + processes.stopping
  if (leader.worker === undefined)
    concerns.push(
      alive === 0 && processes.lost === 0
        ? 'No process runs. Start `sluice up`, or `sluice worker` and `sluice scheduler`.'
        : 'Nobody leads: delayed jobs, schedules and rescues wait. Start `sluice scheduler` or `sluice up`.',
    )
  const gone = findGoneLeader(leader, live, at.getTime())
  if (gone?.stuck)
    concerns.push(
      `Leadership is held until ${gone.until.toISOString()} by a process that is gone: delayed jobs, schedules and rescues wait. \`sluice doctor\` says how to end it.`,
    )
  if (processes.lost > 0)
    concerns.push(
      `${processes.lost === 1 ? 'A process is' : `${processes.lost} processes are`} lost; ${leader.worker === undefined ? 'a leader takes' : 'the leader takes'} care of their jobs.`,
    )
  concerns.push(...describeAway(dispatch, at.getTime()))
  for (const { name, workers, ready, next, paused } of pools) {
    if (paused) continue // told with the other pauses
    if (ready.count > 0 && workers === 0) concerns.push(`Pool ${name} has ready jobs, and no process works for it.`)
    else if (next && at.getTime() - next.since.getTime() > patienceMs)
      concerns.push(
        `Pool ${name}: job ${next.job} has been ready for ${span(at.getTime() - next.since.getTime())}. \`sluice jobs why ${next.job}\` tells why.`,
      )
  }
  concerns.push(...describeTroubled(troubled), ...describePauses(pauses))
  if (jobs.failed.count > 0)
    concerns.push(
      `${jobs.failed.count}${jobs.failed.more ? '+' : ''} ${jobs.failed.count === 1 ? 'job has' : 'jobs have'} failed for good. \`sluice jobs dead\` lists them by what went wrong.`,
    )
  return concerns
}
