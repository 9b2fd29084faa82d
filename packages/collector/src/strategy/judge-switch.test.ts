/** Whether a switch of strategy stays: a table of cases. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeSwitch, median, type WatchedRun, type WatchLimits } from './judge-switch.ts'

const limits: WatchLimits = { errorRate: 0.05, times: 2, slackMs: 1_000, runsLeast: 1, runsTimed: 3, runsMost: 3 }
const usual = [10_000, 12_000, 90_000].map((tookMs) => ({ tookMs, jobs: 100, failed: 0 }))
const run = (more: Partial<WatchedRun> = {}): WatchedRun => ({ tookMs: 12_000, jobs: 100, failed: 0, before: usual, ...more })
const many = (count: number, more: Partial<WatchedRun> = {}): WatchedRun[] => Array.from({ length: count }, () => run(more))
const often = usual.map((one) => ({ ...one, failed: 30 }))

describe('[C-18] a switch', () => {
  test.each<[string, WatchedRun[], Partial<WatchLimits>, string]>([
    ['is watched as long as it does as well as before', many(2), {}, 'watch on'],
    ['is kept when enough runs did', many(3), {}, 'keep'],
    ['is rolled back by the first run with more errors than five in a hundred', [run({ failed: 6 })], {}, 'roll back'],
    ['may have five errors in a hundred', [run({ failed: 5 })], {}, 'watch on'],
    ['is not rolled back to what failed more often', [run({ failed: 6, before: often })], {}, 'watch on'],
    ['for all is not rolled back by one run', [run({ failed: 60 })], { runsLeast: 3 }, 'watch on'],
    ['is rolled back when its runs take more than twice as long', many(3, { tookMs: 24_001 }), {}, 'roll back'],
    ['may take twice as long', many(3, { tookMs: 24_000 }), {}, 'keep'],
    ['is not rolled back by one slow run', [run({ tookMs: 99_000 }), run(), run()], {}, 'keep'],
    [
      'is not rolled back for less than the slack',
      many(3, { tookMs: 900, before: [{ tookMs: 10, jobs: 4, failed: 0 }] }),
      {},
      'keep',
    ],
    ['of a user without a past is judged by its errors only', many(3, { tookMs: 99_000, before: [] }), {}, 'keep'],
    ['is not judged by runs that waited for a token', many(3, { tookMs: null }), {}, 'keep'],
    ['without jobs has no errors', [run({ jobs: 0 })], {}, 'watch on'],
  ])('%s', (_, runs, more, verdict) => {
    expect(judgeSwitch(runs, { ...limits, ...more }).type).toBe(verdict)
  })

  test('says why it is rolled back', () => {
    expect(judgeSwitch([run({ failed: 6 })], limits)).toEqual({
      type: 'roll back',
      reason: '6.0 % of its jobs failed in 1 run; 0.0 % before',
    })
    expect(judgeSwitch(many(3, { tookMs: 30_000 }), limits)).toEqual({
      type: 'roll back',
      reason: 'its runs took 30.0 s instead of 12.0 s (median of 3 runs)',
    })
  })
})

test('a median has as many values below it as above', () => {
  expect(median([])).toBeUndefined()
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 1 }), (values) => {
      const middle = median(values) as number
      expect(values.filter((one) => one < middle).length).toBeLessThanOrEqual(values.length / 2)
      expect(values.filter((one) => one > middle).length).toBeLessThanOrEqual(values.length / 2)
    }),
  )
})
