/** What servers say about budgets: nonsense is refused with the name of the field, and of several answers the right one is believed. */
import { describe, expect, test } from 'vitest'
import { addReport, type BudgetReport, checkReport, laterReport } from './budget-report.ts'
import { encodeLimits } from './limits.ts'

const nowMs = Date.UTC(2026, 0, 1)
const at = (ms: number): Date => new Date(nowMs + ms)

describe('[E-13] a report is refused', () => {
  test.for<[string, BudgetReport, RegExp]>([
    ['with a budget below zero', { remaining: -1 }, /budget\.remaining/],
    ['with a header that is no number', { remaining: Number.NaN }, /budget\.remaining/],
    ['with a reset in the past', { remaining: 1, resetAt: at(-3_600_000) }, /budget\.resetAt/],
    ['with a reset more than a year ahead', { remaining: 1, resetAt: at(400 * 86_400_000) }, /budget\.resetAt.*milliseconds/],
    ['with a hold that was meant in seconds', { holdUntil: new Date(nowMs / 1000) }, /budget\.holdUntil/],
    ['with a date that is none', { resetAt: new Date(Number.NaN) }, /budget\.resetAt/],
  ])('%s', ([, report, message]) => {
    expect(() => checkReport(report, nowMs)).toThrow(message)
  })
})

test('[E-13] of two answers the newer window counts, and in one window the smaller number', () => {
  const late = { remaining: 50, resetAt: at(60_000) }
  expect(laterReport({ remaining: 10, resetAt: at(0) }, late)).toMatchObject(late)
  expect(laterReport(late, { remaining: 49, resetAt: at(59_000) })).toMatchObject({ remaining: 49 })
  expect(laterReport({ holdUntil: at(9_000) }, late)).toMatchObject({ ...late, holdUntil: at(9_000) })
  expect(addReport({ refund: 1 }, { refund: 2, remaining: 5 })).toMatchObject({ refund: 3, remaining: 5 })
})

describe('[E-12] limits of a lane are refused', () => {
  test.for<[string, object, RegExp]>([
    ['with a cap of nothing', { cap: 0 }, /lanes\.api\.cap/],
    ['with a floor below zero', { budget: { floor: -1 } }, /lanes\.api\.budget\.floor/],
    ['with a floor that leaves nothing', { budget: { floor: 10, limit: 10 } }, /leaves nothing/],
    ['with a word that is none of ours', { caps: 1 }, /caps/],
    ['with a breaker that never closes', { breaker: { after: 3, cooldown: 'soon' } }, /cooldown/],
  ])('%s', ([, limits, message]) => {
    expect(() => encodeLimits('api', limits)).toThrow(message)
  })
})
