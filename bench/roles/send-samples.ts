/**
 * Enqueues one job after the other for an idle worker in another process and measures until its handler starts.
 *
 * The time begins before the call of enqueue and ends at the first act of the handler; both processes read the same clock.
 * Between two samples there is a pause of random length, so that the worker is idle and no timer is met in step.
 */
import type { Place } from '../contenders/contender.ts'
import { contenderNamed } from '../contenders/roster.ts'
import { monotonicMs, pause } from '../measure/clock.ts'
import { forkChild } from '../processes/fork-child.ts'
import type { StartTold, TellStartsInput } from './tell-starts.ts'

export interface SamplesInput {
  readonly contender: string
  readonly place: Place
  readonly samples: number
  readonly warmUp: number
  readonly capMs: number
}

export interface SamplesFigures {
  readonly pid: number
  readonly workerPid: number
  /** Jobs, those of the warm-up among them. */
  readonly sent: number
  readonly latenciesMs: readonly number[]
}

const [shortestPauseMs, longestPauseMs] = [5, 30]

export async function sendSamples(input: SamplesInput): Promise<SamplesFigures> {
  const { contender, place } = input
  const waiting = new Map<number, (atMs: number) => void>()
  const ready = Promise.withResolvers<void>()
  const worker = forkChild<{ pid: number }>('tellStarts', { contender, place } satisfies TellStartsInput, (message) => {
    const told = message as StartTold
    if (told === 'ready') ready.resolve()
    else waiting.get(told.n)?.(told.atMs)
  })
  await Promise.race([ready.promise, worker.result])
  const session = (await contenderNamed(contender)).open(place)
  await session.connect()
  const latenciesMs: number[] = []
  const endAtMs = monotonicMs() + input.capMs
  let sent = 0
  for (let n = 0; n < input.warmUp + input.samples && monotonicMs() < endAtMs; n += 1) {
    await pause(shortestPauseMs + Math.random() * (longestPauseMs - shortestPauseMs))
    const started = new Promise<number>((resolve) => waiting.set(n, resolve))
    const sentAtMs = monotonicMs()
    await session.enqueueOne(n)
    sent += 1
    const startedAtMs = await started
    if (n >= input.warmUp) latenciesMs.push(startedAtMs - sentAtMs)
  }
  worker.tell('stop')
  const { pid: workerPid } = await worker.result
  await session.close()
  return { pid: process.pid, workerPid, sent, latenciesMs }
}
