/**
 * A worker that collects, in a process of its own. It is ready before it starts to claim, so that one can stand by for one that is killed.
 *
 * `openCollector` is also how the bench itself holds a collector: an engine that is never started.
 */
import { type Collector, collectorParts } from '@sluice/collector'
import { createEngine, type Engine, KeyRing } from '@sluice/engine'
import type { Line } from '../processes/line.ts'

export interface CollectInput {
  readonly databaseUrl: string
  readonly masterKey: string
  readonly github: { readonly baseUrl: string; readonly graphqlUrl: string }
  /** Jobs at once in this process. */
  readonly slots: number
  /** Units of each budget that are left alone. */
  readonly floor: number
  /** Calls at once on behalf of one person, of each resource. */
  readonly cap: number
  readonly leaseMs: number
  readonly crashesMax: number
}

export function openCollector(input: CollectInput): { engine: Engine; collector: Collector } {
  const parts = collectorParts({ github: input.github, daily: false, floor: input.floor, cap: input.cap })
  const { kinds, runs, schedules, events, lanes, migrations, services } = parts
  const size = { core: input.slots, max: input.slots }
  const engine = createEngine({
    database: input.databaseUrl,
    secrets: KeyRing.fromText(input.masterKey),
    pools: { light: size, heavy: { core: 1, max: 2 } },
    lease: input.leaseMs,
    crashesMax: input.crashesMax,
    kinds,
    runs,
    schedules,
    events,
    lanes,
    migrations,
    services,
  })
  return { engine, collector: parts.open(engine) }
}

export async function collectGithub(input: CollectInput, line: Line): Promise<{ pid: number; peakRssMb: number }> {
  const { engine } = openCollector(input)
  await engine.migrate()
  line.tell('ready')
  await line.told()
  await engine.start()
  line.tell('started')
  await line.told()
  await engine.stop()
  return { pid: process.pid, peakRssMb: process.resourceUsage().maxRSS / 1024 }
}
