import fc from 'fast-check'
import { expect, test } from 'vitest'
import { heardRest, limitHeaders } from '../scene/scripted-server.ts'
import { readBudget, readServerTime } from './budget.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const budgetOf = (headers: Record<string, string>, status = 200) =>
  readBudget(status, new Headers(headers), 'core', readServerTime(new Headers(headers), now))

test.each([-7200, -3, 3, 86_400 * 30])(
  '[G-03] a server clock that is %i seconds off does not move the moment at which the window ends',
  async (skew) => {
    const served = now + skew * 1000
    const headers = { date: new Date(served).toUTCString(), ...limitHeaders({ remaining: 7, reset: served / 1000 + 600 }) }
    const answer = await heardRest({ headers, body: {} }, {}, { now: () => now })
    expect(answer.budget).toEqual({ resource: 'core', limit: 5000, remaining: 7, resetAt: new Date(now + 600_000) })
    expect(answer.servedAt).toEqual(new Date(served))
  },
)

test.each([-2, -1, 0, 1, 2])('[G-03] a difference of %i seconds is rounding, and is left alone', (skew) => {
  const date = new Date(now + skew * 1000).toUTCString()
  expect(budgetOf({ date, ...limitHeaders({ remaining: 7, reset: now / 1000 + 600 }) })?.resetAt).toEqual(new Date(now + 600_000))
})

test('[G-02] without a Date header, or with nonsense in it, the local clock serves', () => {
  for (const date of [undefined, 'yesterday', '0'.repeat(5000)])
    expect(readServerTime(new Headers(date === undefined ? {} : { date }), now).servedAt).toBe(now)
})

test('[G-03] the resource is the one that the header names; an old server that names none means the one that was asked', () => {
  const headers = limitHeaders({ limit: 30, remaining: 3, resource: 'search', reset: now / 1000 + 60 })
  expect(budgetOf(headers)).toMatchObject({ resource: 'search', limit: 30 })
  const { 'x-ratelimit-resource': _, ...unnamed } = headers
  expect(budgetOf(unnamed)).toMatchObject({ resource: 'core', limit: 30 })
})

test.each([
  ['no headers', {}],
  ['a limit of 0', { 'x-ratelimit-limit': '0' }],
  ['a negative number', { 'x-ratelimit-remaining': '-1' }],
  ['a fraction', { 'x-ratelimit-remaining': '1.5' }],
  ['words', { 'x-ratelimit-limit': 'many' }],
  ['a number beyond all numbers', { 'x-ratelimit-reset': '9'.repeat(40) }],
])('[G-03] %s is no budget', (_what, wrong) => {
  const right = limitHeaders({ remaining: 7, reset: now / 1000 + 60 })
  expect(budgetOf(right)).toBeDefined()
  expect(budgetOf(Object.keys(wrong).length === 0 ? {} : { ...right, ...wrong })).toBeUndefined()
})

test('[G-03] whatever the headers hold, a budget that is believed is a sensible one', () => {
  const noise = fc.constantFrom('', ' ', '-1', '1e3', '0x10', '5000, 5000', 'NaN', '9'.repeat(20))
  const count = fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 6000 }).map(String) }, noise)
  const reset = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: -100, max: 90_000 }).map((s) => String(now / 1000 + s)) },
    noise,
  )
  let believed = 0
  fc.assert(
    fc.property(count, count, reset, fc.constantFrom(200, 301, 304, 401, 403), (limit, remaining, reset, status) => {
      const headers = { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset }
      const budget = budgetOf(headers, status)
      if (!budget) return
      believed += 1
      expect(status).not.toBe(401)
      expect(budget.remaining).toBeLessThanOrEqual(budget.limit)
      expect(budget.remaining).toBeGreaterThanOrEqual(0)
      expect(budget.resetAt.getTime()).toBeGreaterThanOrEqual(now - 60_000)
      expect(budget.resetAt.getTime()).toBeLessThanOrEqual(now + 86_400_000)
    }),
    { numRuns: 500 },
  )
  expect(believed).toBeGreaterThan(50)
})
