/** The verdict: what an outcome means for the claim, as a table. */
import { expect, test } from 'vitest'
import type { Claim } from '../dispatch/claim.ts'
import { defineKind } from '../job/kind.ts'
import { cancel, done, fail, type Outcome, retry, snooze } from '../job/outcome.ts'
import { delays, exponential } from '../job/retry.ts'
import { judge, type Verdict } from './judge.ts'

const until = new Date('2030-01-01T00:00:00Z')
const write = async (): Promise<void> => {}
const next = [defineKind('child', { run: () => {} })({})]
const kind = { retry: delays(['1s', '10s']) }

const claimed = (attempt: number, maxAttempts = 3): Claim => ({
  id: 1,
  fence: 1,
  kind: 'x',
  payload: '{}',
  attempt,
  maxAttempts,
  crashes: 0,
  rank: 0,
  priority: 0,
  trace: undefined,
  owner: undefined,
  root: undefined,
  createdAtMs: 0,
  run: undefined,
  event: undefined,
  lane: undefined,
})

test.each<[string, number, Outcome, Verdict]>([
  ['done ends the job', 1, done(), { outcome: 'done' }],
  ['done carries its write and its children', 3, done({ write, next }), { outcome: 'done', write, next }],
  ['retry waits as the kind says', 1, retry(), { outcome: 'retry', delayMs: 1_000, error: undefined }],
  ['the second retry waits longer', 2, retry(), { outcome: 'retry', delayMs: 10_000, error: undefined }],
  [
    'retry waits as it says itself',
    1,
    retry({ after: 0, error: 'x' }),
    { outcome: 'retry', delayMs: 0, error: { message: 'x' } },
  ],
  ['the last retry fails the job', 3, retry({ error: 'x' }), { outcome: 'failed', error: { message: 'x' } }],
  [
    'the last retry without an error says how often it tried',
    3,
    retry(),
    { outcome: 'failed', error: { message: 'gave up after 3 attempts' } },
  ],
  [
    'a delay of its own does not buy another attempt',
    3,
    retry({ after: '1s', error: 'x' }),
    { outcome: 'failed', error: { message: 'x' } },
  ],
  ['snooze waits', 1, snooze('2s'), { outcome: 'snooze', delayMs: 2_000 }],
  ['snooze waits until a date', 1, snooze(until), { outcome: 'snooze', runAt: until }],
  ['snooze on the last attempt is no failure', 3, snooze(0), { outcome: 'snooze', delayMs: 0 }],
  ['fail ends it at the first attempt', 1, fail('no'), { outcome: 'failed', error: { message: 'no' } }],
  ['cancel ends it without a word', 1, cancel(), { outcome: 'canceled', error: undefined }],
  ['cancel ends it with its reason', 1, cancel('sold'), { outcome: 'canceled', error: { message: 'sold' } }],
])('[E-10] %s', (_, attempt, outcome, verdict) => {
  expect(judge(claimed(attempt), kind, outcome, 0)).toEqual(verdict)
})

test('[E-06] attempts that were enqueued with the job go before those of the kind', () => {
  expect(judge(claimed(1, 1), kind, retry({ error: 'x' }), 0)).toMatchObject({ outcome: 'failed' })
  expect(judge(claimed(9, 10), kind, retry({ error: 'x' }), 0)).toMatchObject({ outcome: 'retry', delayMs: 10_000 })
})

test('[E-06] chance comes in as an argument', () => {
  const jittery = { retry: exponential({ first: '10s', jitter: 0.5 }) }
  expect(judge(claimed(1), jittery, retry(), 0)).toMatchObject({ delayMs: 10_000 })
  expect(judge(claimed(1), jittery, retry(), 0.5)).toMatchObject({ delayMs: 7_500 })
})

test('[E-10] a reason is stored like an error: bounded, and without what PostgreSQL refuses', () => {
  expect(judge(claimed(1), kind, cancel(`a\0${'x'.repeat(5_000)}`), 0)).toMatchObject({
    error: { message: expect.stringMatching(/^a\uFFFDx{3998}$/) },
  })
})
