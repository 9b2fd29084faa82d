/**
 * The benches by name.
 */
import type { Bench } from '../bench.ts'
import { apiBench } from './api.ts'
import { collectBench } from './collect.ts'
import { delayedBench } from './delayed.ts'
import { dispatchBench } from './dispatch.ts'
import { drainBench } from './drain.ts'
import { enqueueBench } from './enqueue.ts'
import { historyBench } from './history.ts'
import { horizonBench } from './horizon.ts'
import { idleBench } from './idle.ts'
import { lanesBench } from './lanes.ts'
import { latencyBench } from './latency.ts'
import { recoveryBench } from './recovery.ts'
import { runsBench } from './runs.ts'

export const benches = {
  enqueue: enqueueBench,
  drain: drainBench,
  latency: latencyBench,
  delayed: delayedBench,
  history: historyBench,
  horizon: horizonBench,
  idle: idleBench,
  recovery: recoveryBench,
  lanes: lanesBench,
  runs: runsBench,
  api: apiBench,
  collect: collectBench,
  dispatch: dispatchBench,
} satisfies Record<string, Bench>

export const isBenchName = (name: string): name is keyof typeof benches => Object.hasOwn(benches, name)
