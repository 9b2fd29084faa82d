import { expect, test } from 'vitest'
import { waitOf } from './quota.ts'

const now = new Date('2026-03-01T12:00:00Z')
const [before, soon, later] = [-60, 60, 1_800].map((seconds) => new Date(now.getTime() + seconds * 1_000)) as [Date, Date, Date]
const open = { remaining: 4_000, floor: 100, resetAt: later, holdUntil: null, paused: null }

test.for([
  ['nothing while there is room', {}, null],
  ['nothing before the first answer', { remaining: null, resetAt: null }, null],
  ['nothing when the window is over', { remaining: null, resetAt: before }, null],
  ['the window when all that is left is the floor', { remaining: 100 }, { for: 'window', until: later }],
  ['nothing while one call above the floor is left', { remaining: 101 }, null],
  ['a hold', { holdUntil: soon }, { for: 'hold', until: soon }],
  ['nothing for a hold that is over', { holdUntil: before }, null],
  ['whatever lasts longer', { remaining: 0, holdUntil: soon }, { for: 'window', until: later }],
  ['whatever lasts longer, the hold', { remaining: 0, resetAt: soon, holdUntil: later }, { for: 'hold', until: later }],
  ['nothing that has a time while it is paused', { remaining: 0, paused: 'its token is refused' }, null],
] as const)('[C-14] a budget waits for %s', ([, change, expected]) => {
  expect(waitOf({ ...open, ...change }, now)).toEqual(expected)
})
