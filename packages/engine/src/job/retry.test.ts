/** When to try again: the delays of both policies hold for every attempt and every throw of the dice. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { attemptsMax, delayAfter, delays, exponential, once } from './retry.ts'

const attempt = fc.integer({ min: 1, max: attemptsMax })
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const shape = fc.record({
  first: fc.integer({ min: 0, max: 3_600_000 }),
  factor: fc.double({ min: 1, max: 10, noNaN: true }),
  cap: fc.integer({ min: 0, max: 86_400_000 }),
})

test('[E-06] without jitter the delay never falls from one attempt to the next, and never passes the cap', () => {
  fc.assert(
    fc.property(shape, attempt, random, (options, n, chance) => {
      const policy = exponential({ ...options, jitter: 0 })
      const [now, later] = [policy.delayMs(n, chance), policy.delayMs(n + 1, chance)]
      expect(later).toBeGreaterThanOrEqual(now)
      expect(later).toBeLessThanOrEqual(options.cap)
    }),
  )
})

test('[E-06] jitter shortens a delay by at most its share, and never below zero', () => {
  fc.assert(
    fc.property(shape, fc.double({ min: 0, max: 1, noNaN: true }), attempt, random, (options, jitter, n, chance) => {
      const full = exponential({ ...options, jitter: 0 }).delayMs(n, chance)
      const delay = exponential({ ...options, jitter }).delayMs(n, chance)
      expect(delay).toBeLessThanOrEqual(full)
      expect(delay).toBeGreaterThanOrEqual(full * (1 - jitter) - 1e-6)
      expect(delay).toBeGreaterThanOrEqual(0)
      expect(Number.isFinite(delay)).toBe(true)
    }),
  )
})

test('[E-06] the default waits 2 s, 4 s, 8 s … up to ten minutes, five attempts in all, up to a fifth shorter', () => {
  const policy = exponential()
  expect(policy.attempts).toBe(5)
  expect([1, 2, 3, 4].map((n) => policy.delayMs(n, 0))).toEqual([2_000, 4_000, 8_000, 16_000])
  expect(policy.delayMs(1_000, 0)).toBe(600_000)
  expect(policy.delayMs(1, 0.5)).toBe(1_800)
})

test('[E-06] a list of delays is kept to the letter: three delays are four attempts', () => {
  const policy = delays(['5m', '15m', '45m'])
  expect(policy.attempts).toBe(4)
  expect([1, 2, 3].map((n) => policy.delayMs(n, 0.9))).toEqual([300_000, 900_000, 2_700_000])
})

test('a job that was given more attempts than its list has delays goes on with the last one', () => {
  expect(delays(['1s', '2s']).delayMs(7, 0)).toBe(2_000)
})

test('once is one try and no more, and an empty list of delays is refused with its name', () => {
  expect(once.attempts).toBe(1)
  expect(() => delays([])).toThrow(/at least one delay, or `once`/)
})

test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '5s', undefined])(
  '[E-06] a policy of somebody’s own that answers %j does not stop the job: it is tried again after a minute',
  (answer) => {
    expect(delayAfter({ delayMs: () => answer as number }, 1, 0)).toBe(60_000)
  },
)

test('[E-06] a policy of somebody’s own that throws does not stop the job either', () => {
  const delayMs = (): number => {
    throw new Error('no idea')
  }
  expect(delayAfter({ delayMs }, 1, 0)).toBe(60_000)
})

describe('a policy that cannot work is refused with the name of the field', () => {
  test.each([
    ['retry.attempts', () => exponential({ attempts: 0 })],
    ['retry.attempts', () => exponential({ attempts: 1.5 })],
    ['retry.attempts', () => exponential({ attempts: attemptsMax + 1 })],
    ['retry.attempts', () => delays(Array.from({ length: attemptsMax }, () => '1s' as const))],
    ['retry.factor', () => exponential({ factor: 0.9 })],
    ['retry.factor', () => exponential({ factor: Number.NaN })],
    ['retry.factor', () => exponential({ factor: Number.POSITIVE_INFINITY })],
    ['retry.jitter', () => exponential({ jitter: 1.1 })],
    ['retry.jitter', () => exponential({ jitter: Number.NaN })],
    ['retry.first', () => exponential({ first: -1 })],
    ['retry.cap', () => exponential({ cap: 'soon' as never })],
    ['retry[1]', () => delays(['1s', 'x' as never])],
    ['delays', () => delays([])],
  ])('%s', (field, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', details: expect.objectContaining({ field }) }))
  })
})
