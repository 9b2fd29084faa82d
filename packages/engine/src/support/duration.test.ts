/** Durations: what people write, in milliseconds, and what is refused at the door. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Duration, toMs } from './duration.ts'

test.each<[Duration, number]>([
  [0, 0],
  [1.5, 1.5],
  ['0ms', 0],
  ['250ms', 250],
  ['2s', 2_000],
  ['1.5s', 1_500],
  ['10m', 600_000],
  ['1h', 3_600_000],
  ['7d', 604_800_000],
  ['36525d', 100 * 365.25 * 86_400_000],
])('%j is %d ms', (duration, ms) => {
  expect(toMs(duration)).toBe(ms)
})

describe('a duration that is none is refused with the name of its field', () => {
  test.each([
    '',
    '5',
    's',
    '5 s',
    '5S',
    '-5s',
    '+5s',
    '1e3ms',
    '5s5',
    '5min',
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '36526d',
  ])('%j', (text) => {
    expect(() => toMs(text as Duration, 'lease')).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(/^Option lease: .*is no duration/) }),
    )
  })
})

test('a unit only changes the scale', () => {
  fc.assert(
    fc.property(fc.nat(36_525), (count) => {
      expect(toMs(`${count}s`)).toBe(1_000 * toMs(`${count}ms`))
      expect(toMs(`${count}m`)).toBe(60 * toMs(`${count}s`))
      expect(toMs(`${count}h`)).toBe(60 * toMs(`${count}m`))
      expect(toMs(`${count}d`)).toBe(24 * toMs(`${count}h`))
    }),
  )
})

test('any text is either refused or a time of at most a hundred years, not negative', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d.]{1,400}(ms|s|m|h|d)$/)), (text) => {
      let ms: number
      try {
        ms = toMs(text as Duration)
      } catch (error) {
        expect(error).toMatchObject({ code: 'INVALID_OPTION' })
        return
      }
      expect(ms).toBeGreaterThanOrEqual(0)
      expect(ms).toBeLessThanOrEqual(100 * 365.25 * 86_400_000)
    }),
  )
})
