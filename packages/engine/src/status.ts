/**
 * What an engine says about itself: whether it works, and if not, why.
 */
export interface EngineStatus {
  readonly ready: boolean
  /** What is not ready, in words. */
  readonly problems: readonly string[]
  readonly worker: number | undefined
  readonly leads: boolean
  readonly wakeUps: 'notifications' | 'heartbeat'
  readonly running: number
}
