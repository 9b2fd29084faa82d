/**
 * Delays jobs by random times and measures how late their handlers start, beside timers of this same process that were set
 * for the same due times: what the timers are late by is the machine's doing and nobody's fault.
 *
 * Enqueues are spread over time. A job that has not started by the end counts with the lateness it has reached by then.
 */
import type { Place } from '../contenders/contender.ts'
import { contenderNamed } from '../contenders/roster.ts'
import { pause, wallMs } from '../measure/clock.ts'

export interface DelayedInput {
  readonly contender: string
  readonly place: Place
  readonly jobs: number
  readonly spreadMs: number
  readonly delayMs: readonly [shortest: number, longest: number]
  readonly patienceMs: number
}

export interface DelayedFigures {
  readonly pid: number
  readonly latenessMs: readonly number[]
  readonly timerLatenessMs: readonly number[]
  readonly unstarted: number
}

export async function delayed(input: DelayedInput): Promise<DelayedFigures> {
  const session = (await contenderNamed(input.contender)).open(input.place)
  await session.connect()
  const dueAtMs: number[] = []
  const startedAtMs: number[] = []
  const timerLatenessMs: number[] = []
  const stop = await session.work((n) => {
    startedAtMs[n] ??= wallMs()
  })
  const [shortest, longest] = input.delayMs
  const enqueues: Promise<void>[] = []
  for (let n = 0; n < input.jobs; n += 1) {
    const due = new Date(Math.ceil(wallMs() + shortest + Math.random() * (longest - shortest)))
    dueAtMs[n] = due.getTime()
    setTimeout(() => timerLatenessMs.push(wallMs() - due.getTime()), due.getTime() - wallMs())
    enqueues.push(session.enqueueAt(n, due))
    await pause(input.spreadMs / input.jobs)
  }
  await Promise.all(enqueues)
  const endAtMs = Math.max(...dueAtMs) + input.patienceMs
  const started = () => startedAtMs.filter((at) => at !== undefined).length
  while (wallMs() < endAtMs && started() < input.jobs) await pause(20)
  await pause(Math.max(0, Math.max(...dueAtMs) + 20 - wallMs()))
  const nowMs = wallMs()
  const latenessMs = dueAtMs.map((due, n) => (startedAtMs[n] ?? nowMs) - due)
  const unstarted = input.jobs - started()
  await stop()
  await session.close()
  return { pid: process.pid, latenessMs, timerLatenessMs, unstarted }
}
