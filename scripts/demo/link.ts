/**
 * What the demo and its workers agree on: the size of a worker, and what it says over its line.
 */
export const leaseMs = 2_000
export const slots = 10
export const statusEveryMs = 150

export type WorkerMessage =
  | { readonly type: 'status'; readonly running: number; readonly leads: boolean; readonly doing: string }
  | { readonly type: 'log'; readonly event: string; readonly fields: Record<string, unknown> }
