/**
 * A worker for the runs of run-kinds.ts. `at` names a fail point or a place of a handler; the process kills itself when it first gets there
 * with a job of the kind that is planned.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { createEngine, type EngineOptions, type FailPoint } from '@sluice/engine'
import { say, settings } from './channel.ts'
import { runKinds, type Stage, walk } from './run-kinds.ts'

const { at, workMs = 0, ...options } = settings as unknown as Omit<EngineOptions, 'services'> & { at?: string; workMs?: number }

function reach(place: FailPoint | 'plan' | 'page' | 'finalize'): void {
  if (place !== at) return
  say({ reached: place })
  process.kill(process.pid, 'SIGKILL')
}

const stage: Stage = {
  async enter(place) {
    reach(place)
    if (workMs > 0) await wait(Math.random() * workMs)
  },
}
const engine = createEngine({ kinds: runKinds, runs: [walk], services: stage, probe: reach, ...options })
await engine.start()
say({ worker: engine.status().worker })
