/**
 * Leadership that nobody lives up to. It ends with the lease of the process, so it outlives one by seconds; when it lasts for longer, a clock was set
 * or the row was written by hand, and nobody can take over until then.
 */
import type { SeenLeader, SeenWorker } from '@sluice/engine'

export interface GoneLeader {
  readonly until: Date
  /** Longer than a lease explains. */
  readonly stuck: boolean
}

const leaseMsMost = 60_000

export function findGoneLeader(
  { worker, until }: SeenLeader,
  workers: readonly Pick<SeenWorker, 'id' | 'state'>[],
  nowMs: number,
): GoneLeader | undefined {
  if (worker === undefined || until === undefined) return undefined
  if (workers.some(({ id, state }) => id === worker && state !== 'lost')) return undefined
  return { until, stuck: until.getTime() - nowMs > leaseMsMost }
}
