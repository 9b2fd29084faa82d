/**
 * An idle worker in a process of its own that tells when each handler started. Ends when it is told anything.
 */
import type { Place } from '../contenders/contender.ts'
import { contenderNamed } from '../contenders/roster.ts'
import { monotonicMs } from '../measure/clock.ts'
import type { Line } from '../processes/line.ts'

export interface TellStartsInput {
  readonly contender: string
  readonly place: Place
}

export type StartTold = 'ready' | { readonly n: number; readonly atMs: number }

export async function tellStarts(input: TellStartsInput, line: Line): Promise<{ pid: number }> {
  const session = (await contenderNamed(input.contender)).open(input.place)
  await session.connect()
  const stop = await session.work((n) => {
    const atMs = monotonicMs()
    line.tell({ n, atMs } satisfies StartTold)
  })
  line.tell('ready' satisfies StartTold)
  await line.told()
  await stop()
  await session.close()
  return { pid: process.pid }
}
