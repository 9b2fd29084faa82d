import { expect, test } from 'vitest'
import { decideRestart } from './restart-budget.ts'

test.each([
  { deaths: [0], now: 0, decision: { pauseMs: 0 } },
  { deaths: [0, 1_000], now: 1_000, decision: { pauseMs: 500 } },
  { deaths: [0, 1_000, 2_000, 3_000], now: 3_000, decision: { pauseMs: 2_000 } },
  { deaths: [0, 1_000, 2_000, 3_000, 4_000], now: 4_000, decision: 'give up' },
  { deaths: [0, 1_000, 2_000, 3_000, 60_000], now: 60_000, decision: { pauseMs: 2_000 } },
  { deaths: [0, 61_000], now: 61_000, decision: { pauseMs: 0 } },
])('deaths at $deaths lead to $decision', ({ deaths, now, decision }) => {
  expect(decideRestart(deaths, now)).toEqual(decision)
})
