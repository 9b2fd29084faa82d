/**
 * Enqueues from this one process: in bulk calls, or one job a call with 64 callers at once. The clock runs from the first call
 * to the return of the last one; a call that returned means that its jobs are committed. Single enqueues also end when their time
 * is up.
 */
import type { Contender, Place, Session } from '../contenders/contender.ts'
import { contenderNamed } from '../contenders/roster.ts'
import { monotonicMs } from '../measure/clock.ts'

export interface EnqueueInput {
  readonly contender: string
  readonly place: Place
  readonly manner: 'bulk' | 'single'
  /** The number of the first job; what was enqueued before has others. */
  readonly first: number
  readonly jobs: number
  readonly capMs: number
}

export interface EnqueueFigures {
  readonly pid: number
  readonly jobs: number
  readonly seconds: number
  readonly jobsPerSecond: number
  /** What is in the store afterwards, with what was there before. */
  readonly stored: number
}

const singleCallers = 64

export async function enqueue(input: EnqueueInput): Promise<EnqueueFigures> {
  const contender = await contenderNamed(input.contender)
  const session = contender.open(input.place)
  await session.connect()
  const startedAtMs = monotonicMs()
  const endAtMs = startedAtMs + input.capMs
  let jobs = input.jobs
  if (input.manner === 'bulk') await inBulk(contender, session, input.first, input.jobs)
  else jobs = await oneByOne(session, input.first, input.jobs, endAtMs)
  const seconds = (monotonicMs() - startedAtMs) / 1000
  const stored = await session.unsettled()
  await session.close()
  return { pid: process.pid, jobs, seconds, jobsPerSecond: jobs / seconds, stored }
}

/** Enqueues the numbers from `first` on, in the calls that suit the contender. */
export async function inBulk(contender: Contender, session: Session, first: number, jobs: number): Promise<void> {
  const { size, parallel } = contender.bulk
  let next = first
  const caller = async () => {
    while (next < first + jobs) {
      const from = next
      next = Math.min(from + size, first + jobs)
      await session.enqueueBulk(Array.from({ length: next - from }, (_, at) => from + at))
    }
  }
  await Promise.all(Array.from({ length: parallel }, caller))
}

async function oneByOne(session: Session, first: number, jobs: number, endAtMs: number): Promise<number> {
  let next = first
  const caller = async () => {
    while (next < first + jobs && monotonicMs() < endAtMs) await session.enqueueOne(next++)
  }
  await Promise.all(Array.from({ length: singleCallers }, caller))
  return next - first
}
