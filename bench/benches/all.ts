/**
 * The benches by name.
 */
import type { Bench } from '../bench.ts'
import { delayedBench } from './delayed.ts'
import { drainBench } from './drain.ts'
import { enqueueBench } from './enqueue.ts'
import { historyBench } from './history.ts'
import { horizonBench } from './horizon.ts'
import { idleBench } from './idle.ts'
import { latencyBench } from './latency.ts'
import { recoveryBench } from './recovery.ts'

export const benches = {
  enqueue: enqueueBench,
  drain: drainBench,
  latency: latencyBench,
  delayed: delayedBench,
  history: historyBench,
  horizon: horizonBench,
  idle: idleBench,
  recovery: recoveryBench,
} satisfies Record<string, Bench>

export const isBenchName = (name: string): name is keyof typeof benches => Object.hasOwn(benches, name)
