import type { Quota, ShadowOutlook } from '@sluice/collector'
import { expect, test } from 'vitest'
import { wallTime } from '../terminal/times.ts'
import { describeOutlook } from './describe-outlook.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const resetAt = new Date(now + 600_000)
const quota = (resource: 'core' | 'graphql', change: Partial<Quota> = {}): Quota => ({
  resource,
  remaining: 4_900,
  limit: 5_000,
  floor: 100,
  resetAt,
  holdUntil: null,
  paused: null,
  waits: null,
  ...change,
})
const sides = (core: number): ShadowOutlook['sides'] => [
  { strategy: 'graphql', units: { core: 2, graphql: 14 } },
  { strategy: 'rest', units: { core, graphql: 1 } },
]

test('[C-13] what it costs is told beside what is left above the floor', () => {
  const { lines, warnings } = describeOutlook({ sides: sides(1_200), quota: [quota('core'), quota('graphql')] }, now)
  const until = wallTime(resetAt, now)
  expect(lines).toEqual([
    'Units it will cost: graphql about 2 core and 14 graphql; rest about 1,200 core and 1 graphql.',
    `Above the floor there are: core 4,800 until ${until}; graphql 4,800 until ${until}.`,
  ])
  expect(warnings).toEqual([])
})

test('[C-13] more than is left is warned of, with when it goes on and how many windows it takes', () => {
  const [one] = describeOutlook({ sides: sides(9_000), quota: [quota('core')] }, now).warnings
  expect(one).toBe(
    `That is 4,202 core more than there are: it waits for the next window at ${wallTime(resetAt, now)}. Other collections of this account wait as well.`,
  )
  const [many] = describeOutlook({ sides: sides(20_000), quota: [quota('core')] }, now).warnings
  expect(many).toContain(', and 3 more after it, about 3h.')
})

test('[C-13] before the first answer nobody knows what is left', () => {
  const unknown = quota('core', { remaining: null, limit: null, resetAt: null })
  const { lines, warnings } = describeOutlook({ sides: sides(9_000), quota: [unknown] }, now)
  expect(lines[1]).toContain('core as much as GitHub says with its first answer')
  expect(warnings).toEqual([])
})
