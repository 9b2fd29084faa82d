/**
 * What an engine says about itself: whether it works, and if not, why.
 */
import type { DispatchStatus } from './dispatch/dispatcher.ts'

export interface EngineStatus {
  readonly ready: boolean
  /** What is not ready, in words. */
  readonly problems: readonly string[]
  readonly worker: number | undefined
  readonly leads: boolean
  readonly wakeUps: 'notifications' | 'heartbeat'
  readonly running: number
  /** Who hands out jobs; `instead` says why it is PostgreSQL although Redis was asked for. */
  readonly dispatch: DispatchStatus
}

/** What stands in the way of work, first things first. */
export function findProblems(is: { stopped: boolean; started: boolean; answered: boolean; trusted: boolean }): string[] {
  if (is.stopped) return ['the engine is stopped']
  if (!is.started) return ['the engine is not started']
  if (!is.answered) return ['PostgreSQL does not answer the heartbeat']
  return is.trusted ? [] : ['the lease of this process is over']
}
