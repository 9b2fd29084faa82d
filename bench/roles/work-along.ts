/**
 * One of several workers on a full queue, in a process of its own. Says when its first handler started, and ends when it is told anything.
 */
import type { Place } from '../contenders/contender.ts'
import { contenderNamed } from '../contenders/roster.ts'
import { monotonicMs } from '../measure/clock.ts'
import type { Line } from '../processes/line.ts'

export interface WorkAlongInput {
  readonly contender: string
  readonly place: Place
}

export async function workAlong(input: WorkAlongInput, line: Line): Promise<{ pid: number; started: number; firstAtMs: number }> {
  const session = (await contenderNamed(input.contender)).open(input.place)
  await session.connect()
  line.tell('ready')
  await line.told() // all begin together
  let started = 0
  let firstAtMs = Number.POSITIVE_INFINITY
  const stop = await session.work(() => {
    started += 1
    if (started === 1) firstAtMs = monotonicMs()
  })
  await line.told()
  await stop()
  await session.close()
  return { pid: process.pid, started, firstAtMs: Math.min(firstAtMs, Number.MAX_VALUE) }
}
