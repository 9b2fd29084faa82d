/**
 * Enqueues from this one process: in bulk calls, or one job a call with 64 callers at once. The clock runs from the first call
 * to the return of the last one; a call that returned means that its jobs are committed.
 */
import type { Contender, Place, Session } from '../contenders/contender.ts'
import { contenderNamed } from '../contenders/roster.ts'
import { monotonicMs } from '../measure/clock.ts'

export interface EnqueueInput {
  readonly contender: string
  readonly place: Place
  readonly manner: 'bulk' | 'single'
  readonly jobs: number
}

export interface EnqueueFigures {
  readonly pid: number
  readonly seconds: number
  readonly jobsPerSecond: number
  readonly enqueued: number
}

const singleCallers = 64

export async function enqueue(input: EnqueueInput): Promise<EnqueueFigures> {
  const contender = await contenderNamed(input.contender)
  const session = contender.open(input.place)
  await session.connect()
  const startedAt = monotonicMs()
  if (input.manner === 'bulk') await inBulk(contender, session, 0, input.jobs)
  else await oneByOne(session, input.jobs)
  const seconds = (monotonicMs() - startedAt) / 1000
  const enqueued = await session.unsettled()
  await session.close()
  return { pid: process.pid, seconds, jobsPerSecond: input.jobs / seconds, enqueued }
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

async function oneByOne(session: Session, jobs: number): Promise<void> {
  let next = 0
  const caller = async () => {
    while (next < jobs) await session.enqueueOne(next++)
  }
  await Promise.all(Array.from({ length: singleCallers }, caller))
}
