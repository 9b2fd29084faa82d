/**
 * When to try again: pure functions of the attempt that just failed.
 */
import { type Duration, durationMsMax, toMs } from '../support/duration.ts'
import { SluiceError } from '../support/errors.ts'
import { checkOptions } from '../support/options.ts'

export interface RetryPolicy {
  /** How often the job is tried at most, the first time included. */
  readonly attempts: number
  /** How long to wait after attempt `attempt` failed. `random` is in [0, 1). */
  readonly delayMs: (attempt: number, random: number) => number
}

export const attemptsMax = 1_000
const factorMax = 1_000
const fallbackMs = toMs('1m')

/** first, first × factor, first × factor² … up to cap, each shortened by up to `jitter` of itself so that herds spread out. */
export function exponential(
  options: { first?: Duration; factor?: number; cap?: Duration; attempts?: number; jitter?: number } = {},
): RetryPolicy {
  checkOptions('exponential', options, ['first', 'factor', 'cap', 'attempts', 'jitter'])
  const { factor = 2, attempts = 5, jitter = 0.2 } = options
  const firstMs = toMs(options.first ?? '2s', 'retry.first')
  const capMs = toMs(options.cap ?? '10m', 'retry.cap')
  checkAttempts(attempts)
  if (!(factor >= 1 && factor <= factorMax))
    throw new SluiceError('INVALID_OPTION', { field: 'retry.factor', problem: `${factor} is not within 1 and ${factorMax}` })
  if (!(jitter >= 0 && jitter <= 1))
    throw new SluiceError('INVALID_OPTION', { field: 'retry.jitter', problem: `${jitter} is not within 0 and 1` })
  return {
    attempts,
    // Past the largest number the power is Infinity, and 0 × Infinity is no delay.
    delayMs: (attempt, random) =>
      firstMs === 0 ? 0 : Math.min(capMs, firstMs * factor ** (attempt - 1)) * (1 - jitter * random),
  }
}

/** One delay after each failed attempt, to the letter: three delays are four attempts. */
export function delays(list: readonly Duration[]): RetryPolicy {
  const given: unknown = list
  if (!Array.isArray(given))
    throw new SluiceError('INVALID_OPTION', { field: 'delays', problem: "takes a list, as in delays(['5m', '1h'])" })
  if (list.length === 0)
    throw new SluiceError('INVALID_OPTION', {
      field: 'delays',
      problem: 'is empty; give at least one delay, or `once` for one try and no more',
    })
  const all = list.map((delay, index) => toMs(delay, `retry[${index}]`))
  checkAttempts(all.length + 1)
  return { attempts: all.length + 1, delayMs: (attempt) => all[Math.min(attempt, all.length) - 1] ?? 0 }
}

/** One try and no more. */
export const once: RetryPolicy = { attempts: 1, delayMs: () => 0 }

/** What a policy says. One of somebody's own may throw or answer nonsense; the job is tried again all the same. */
export function delayAfter(policy: Pick<RetryPolicy, 'delayMs'>, attempt: number, random: number): number {
  try {
    const delayMs = policy.delayMs(attempt, random)
    return delayMs >= 0 && delayMs <= durationMsMax ? delayMs : fallbackMs
  } catch {
    return fallbackMs
  }
}

/** For policies of somebody's own; those made here are right. */
export function isRetryPolicy(policy: unknown): policy is RetryPolicy {
  if (typeof policy !== 'object' || policy === null || !('attempts' in policy) || !('delayMs' in policy)) return false
  const { attempts, delayMs } = policy
  return typeof delayMs === 'function' && Number.isInteger(attempts) && Number(attempts) >= 1 && Number(attempts) <= attemptsMax
}

function checkAttempts(attempts: number): void {
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > attemptsMax)
    throw new SluiceError('INVALID_OPTION', {
      field: 'retry.attempts',
      problem: `${attempts} is not a whole number from 1 to ${attemptsMax}`,
    })
}
