import type { Progress, Quota } from '@sluice/collector'
import { describe, expect, test } from 'vitest'
import { wallTime } from '../terminal/times.ts'
import { describeQuota, describeWaits, doneOf } from './describe.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const at = (seconds: number): Date => new Date(now + seconds * 1_000)
const open: Quota = {
  resource: 'graphql',
  remaining: 4_200,
  limit: 5_000,
  floor: 100,
  resetAt: at(1_800),
  holdUntil: null,
  paused: null,
  waits: null,
}
const goesOn = (seconds: number): string => `goes on at ${wallTime(at(seconds), now)}`

describe('[C-14] a budget in words', () => {
  const rows: [string, Partial<Quota>, string][] = [
    ['what is left', {}, 'graphql 4,200 of 5,000 left, resets in 30m'],
    [
      'all of it floor',
      { remaining: 100, waits: { for: 'window', until: at(1_800) } },
      `graphql 100 of 5,000 left, all of it floor; ${goesOn(1_800)}`,
    ],
    [
      'nothing left',
      { remaining: 0, waits: { for: 'window', until: at(1_800) } },
      `graphql 0 of 5,000 left, the window is spent; ${goesOn(1_800)}`,
    ],
    [
      'a hold',
      { holdUntil: at(60), waits: { for: 'hold', until: at(60) } },
      `graphql 4,200 of 5,000 left, GitHub asked for a pause; ${goesOn(60)}`,
    ],
    ['a window that is over', { remaining: null, resetAt: at(-60) }, `graphql 5,000 left again since ${wallTime(at(-60), now)}`],
    [
      'over, limit unknown',
      { remaining: null, limit: null, resetAt: at(-60) },
      `graphql whole again since ${wallTime(at(-60), now)}`,
    ],
    ['never asked', { remaining: null, limit: null, resetAt: null }, 'graphql not asked yet'],
    ['paused', { paused: 'its token is refused' }, 'graphql 4,200 of 5,000 left, paused: its token is refused'],
  ]
  test.for(rows)('[C-14] %s', ([, change, text]) => {
    expect(describeQuota([{ ...open, ...change }], now)).toEqual([text])
  })
})

test('[C-14] only what holds a collection up is told as a wait, and nothing once it has ended', () => {
  const waiting: Quota = { ...open, remaining: 100, waits: { for: 'window', until: at(1_800) } }
  const progress = (quota: readonly Quota[], finishedAt: Date | null) => ({ quota, run: { finishedAt } }) as unknown as Progress
  expect(describeWaits(progress([{ ...open, resource: 'core' }, waiting], null), now)).toEqual(describeQuota([waiting], now))
  expect(describeWaits(progress([open], null), now)).toEqual([])
  expect(describeWaits(progress([waiting], at(0)), now)).toEqual([])
})

test('[C-14] jobs that failed have ended too', () => {
  expect(doneOf({ jobs: { total: 12, done: 9, failed: 1 } })).toBe('10 of 12 jobs, 1 failed')
})
