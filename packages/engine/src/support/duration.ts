/**
 * Durations as people write them: `'250ms'`, `'2s'`, `'10m'`, `'1h'`, `'7d'`, or a number of milliseconds.
 */
import { z } from 'zod'
import { SluiceError } from './errors.ts'

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export type Duration = number | `${number}${keyof typeof unitMs}`

/** A hundred years: past it, dates overflow before anybody waits so long. */
export const durationMsMax = 36_525 * unitMs.d

/** For schemas: says in the same words what is wrong. */
export const durationField = z.custom<Duration>((given) => read(given) !== undefined, { error: ({ input }) => problemOf(input) })

export function toMs(duration: Duration, field = 'duration'): number {
  const ms = read(duration)
  if (ms === undefined) throw new SluiceError('INVALID_OPTION', { field, problem: problemOf(duration) })
  return ms
}

function read(given: unknown): number | undefined {
  const ms = typeof given === 'number' ? given : typeof given === 'string' ? parse(given) : undefined
  return ms !== undefined && ms >= 0 && ms <= durationMsMax ? ms : undefined
}

function problemOf(given: unknown): string {
  const shown = typeof given === 'number' ? String(given) : JSON.stringify(given)
  return `${shown} is no duration; write '250ms', '2s', '10m', '1h', '7d' or milliseconds as a number, not negative and at most 100 years`
}

function parse(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text)
  return match ? Number(match[1]) * unitMs[match[2] as keyof typeof unitMs] : undefined
}
