/**
 * A worker for the kinds of lane-kinds.ts. SIGTERM stops it in order: what outlasts the grace is handed back.
 */
import { createEngine, type EngineOptions } from '@sluice/engine'
import { say, settings } from './channel.ts'
import { laneKinds } from './lane-kinds.ts'

const engine = createEngine({ kinds: laneKinds, ...(settings as EngineOptions) })
process.once('SIGTERM', () => void engine.stop().then(() => say({ stopped: true })))
await engine.start()
say({ worker: engine.status().worker })
