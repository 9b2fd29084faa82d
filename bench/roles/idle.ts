/**
 * A Sluice worker that has nothing to do and two schedules to keep, in a process of its own. Tells when it is up and leads;
 * answers each question with its resident memory; ends when it is told to stop.
 */
import { createEngine, defineSchedule, type Schedule } from '@sluice/engine'
import { noop } from '../contenders/sluice-kind.ts'
import { pause, wallMs } from '../measure/clock.ts'
import type { Line } from '../processes/line.ts'

export interface IdleInput {
  readonly databaseUrl: string
}

export async function idle(input: IdleInput, line: Line): Promise<{ pid: number }> {
  const kind = noop(() => {})
  const engine = createEngine({
    database: input.databaseUrl,
    kinds: [kind],
    schedules: schedulesOfLater(kind({ n: 0 }), wallMs()),
  })
  await engine.start()
  while (!engine.status().leads) await pause(100)
  line.tell('leads')
  while ((await line.told()) !== 'stop') line.tell({ rssBytes: process.memoryUsage.rss() })
  await engine.stop()
  return { pid: process.pid }
}

/** Made from the clock: whenever a bench runs, the next fire is half an hour away. Seoul's hours begin with those of UTC. */
function schedulesOfLater(job: Schedule['job'], nowMs: number): Schedule[] {
  const now = new Date(nowMs)
  const minute = (now.getUTCMinutes() + 30) % 60
  const hour = (now.getUTCHours() + 12) % 24
  return [
    defineSchedule('bench.hourly', { cron: `${minute} * * * *`, zone: 'Asia/Seoul', job }),
    defineSchedule('bench.daily', { cron: `${minute} ${hour} * * *`, job }),
  ]
}
