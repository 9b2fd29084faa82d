/**
 * A Sluice worker that has nothing to do, in a process of its own. Tells when it is up and leads; answers each question with
 * its resident memory; ends when it is told to stop.
 */
import { createEngine } from '@sluice/engine'
import { noop } from '../contenders/sluice-kind.ts'
import { pause } from '../measure/clock.ts'
import type { Line } from '../processes/line.ts'

export interface IdleInput {
  readonly databaseUrl: string
}

export async function idle(input: IdleInput, line: Line): Promise<{ pid: number }> {
  const engine = createEngine({ database: input.databaseUrl, kinds: [noop(() => {})] })
  await engine.start()
  while (!engine.status().leads) await pause(100)
  line.tell('leads')
  while ((await line.told()) !== 'stop') line.tell({ rssBytes: process.memoryUsage.rss() })
  await engine.stop()
  return { pid: process.pid }
}
