/**
 * The life of a job, as data.
 *
 * Every legal move is a row here. The SQL functions guard each move in their WHERE, the table's CHECK constraints hold the shape of each
 * state, and a test keeps this list equal to the diagram in docs/job-lifecycle.md.
 */
export type JobState = 'scheduled' | 'ready' | 'paused' | 'running' | 'failed' | 'succeeded' | 'canceled'

export const moves = {
  scheduled: ['ready', 'paused', 'canceled'],
  ready: ['running', 'scheduled', 'paused', 'canceled'],
  paused: ['ready', 'scheduled', 'canceled'],
  running: ['succeeded', 'scheduled', 'ready', 'failed', 'canceled'],
  failed: ['ready', 'paused', 'canceled'],
  succeeded: [],
  canceled: [],
} as const satisfies Record<JobState, readonly JobState[]>

/** After so many dead processes a job runs alone; migrations/0006 knows the same number. */
export const suspectCrashes = 2
