/**
 * How keys are called, and which class a priority belongs to.
 */
export const group = 'workers'
/** Four classes of priority of the open lane, and the stream of all other lanes. */
export const classes = [0, 1, 2, 3, 4] as const
const laned = 4

/** `{pool}` is the hash tag: all keys of a pool lie on one node of a cluster. */
export function prefixOf(prefix: string, installation: string, pool: string): string {
  return `${prefix}:${installation}:{${pool}}:`
}

export function streamOf(prefix: string, priorityClass: number): string {
  return `${prefix}ready:${priorityClass}`
}

export function newsOf(prefix: string): string {
  return `${prefix}news`
}

/** Work in progress, what somebody preferred, the usual, what may wait. Inside a class the first to come goes first; inside a
 * lane the smallest rank does. */
export function classOf(lane: string, priority: number): number {
  if (lane !== '') return laned
  return priority >= 10 ? 0 : priority > 0 ? 1 : priority === 0 ? 2 : 3
}
