/**
 * Drains what was enqueued before, in this one process.
 *
 * The clock runs from the start of the first handler, so connecting and starting up are not counted, to the moment when the
 * store says that nothing is left unsettled. The store is asked only after the last handler has started, every five
 * milliseconds, with a question that is cheap in every store. A contender that does not finish within the cap is stopped and
 * judged by what it had durably finished by then.
 */

import type { Place, Session } from '../contenders/contender.ts'
import { contenderNamed } from '../contenders/roster.ts'
import { monotonicMs, pause } from '../measure/clock.ts'

export interface DrainInput {
  readonly contender: string
  readonly place: Place
  readonly jobs: number
  readonly capMs: number
  readonly slices?: number
}

export interface DrainFigures {
  readonly pid: number
  readonly settled: number
  readonly seconds: number
  readonly jobsPerSecond: number
  readonly finished: boolean
  /** Handler starts a second in each slice of the jobs, if slices were asked for. */
  readonly slices: readonly number[]
}

const askEveryMs = 5

export async function drain(input: DrainInput): Promise<DrainFigures> {
  const session = (await contenderNamed(input.contender)).open(input.place)
  await session.connect()
  const starts = watchStarts(input.jobs, input.slices ?? 0)
  const stop = await session.work(starts.onJob)
  const endAtMs = monotonicMs() + input.capMs
  const finished = (await within(endAtMs, starts.all)) && (await becomesSettled(session, endAtMs))
  const settled = finished ? input.jobs : input.jobs - (await session.unsettled())
  const seconds = (monotonicMs() - starts.firstAt()) / 1000
  await stop()
  await session.close()
  return { pid: process.pid, settled, seconds, jobsPerSecond: settled / seconds, finished, slices: starts.slices() }
}

const within = (endAtMs: number, event: Promise<void>): Promise<boolean> =>
  Promise.race([event.then(() => true), pause(endAtMs - monotonicMs()).then(() => false)])

async function becomesSettled(session: Session, endAtMs: number): Promise<boolean> {
  while (!(await session.allSettled())) {
    if (monotonicMs() > endAtMs) return false
    await pause(askEveryMs)
  }
  return true
}

/** Counts distinct handler starts. A job that starts twice in a drain without faults is an error of the contender. */
function watchStarts(jobs: number, slices: number) {
  const seen = new Uint8Array(jobs)
  const marks: number[] = []
  const sliceSize = slices > 0 ? Math.ceil(jobs / slices) : Number.POSITIVE_INFINITY
  const { promise: all, resolve, reject } = Promise.withResolvers<void>()
  let count = 0
  const onJob = (n: number) => {
    if (seen[n] !== 0) return reject(new Error(`job ${n} started twice, or was never enqueued`))
    seen[n] = 1
    if (count === 0) marks.push(monotonicMs())
    count += 1
    if (count % sliceSize === 0) marks.push(monotonicMs())
    if (count === jobs) resolve()
  }
  return {
    onJob,
    all,
    firstAt: () => marks[0] ?? monotonicMs(),
    slices: () => marks.slice(1).map((mark, at) => sliceSize / ((mark - (marks[at] ?? mark)) / 1000)),
  }
}
