/**
 * Which strategy a run reads by. It is decided once, when the run is planned, and its jobs carry it: whatever is switched meanwhile, a run ends as it began.
 */
import type { Executor } from '@sluice/engine'
import type { Strategy } from '../collection/collection.ts'
import { findNewest, findWatching } from './switch.ts'

export interface Chosen {
  readonly strategy: Strategy
  /** The switch that watches over it. */
  readonly watched: number | null
}

/** For everybody who has none of their own. `fallback` is what holds until somebody has switched. */
export async function strategyForAll(on: Executor, fallback: Strategy): Promise<Strategy> {
  return (await findNewest(on, null))?.to ?? fallback
}

export async function chooseForRun(
  on: Executor,
  user: { id: number; strategy: Strategy | null },
  fallback: Strategy,
): Promise<Chosen> {
  const watch = (await findWatching(on, user.id)) ?? (user.strategy === null ? await findWatching(on, null) : undefined)
  const strategy = user.strategy ?? (await strategyForAll(on, fallback))
  return { strategy, watched: watch && watch.to === strategy ? watch.id : null }
}
