/** Outcomes are values: each maker gives one, and anything else a handler may return is told apart from them. */
import { expect, test } from 'vitest'
import { defineKind } from './kind.ts'
import { cancel, done, fail, isOutcome, type Outcome, retry, snooze } from './outcome.ts'

const child = defineKind('child', { run: () => {} })

test('[E-10] done says what to write and what comes next, and leaves out what is empty', () => {
  const write = async (): Promise<void> => {}
  const next = [child({})]
  expect(done()).toEqual({ type: 'done' })
  expect(done({ write, next })).toEqual({ type: 'done', write, next })
  for (const nothing of [[], false, null, undefined] as const) expect(done({ next: nothing })).toEqual({ type: 'done' })
})

test('[E-10] done refuses what it would otherwise forget, and says what it takes', () => {
  const wrong = done as (what: unknown) => Outcome
  for (const [what, words] of [
    [{ next: child({}) }, /^Option done\.next: is no list/],
    [{ publish: 'paid' }, /^Option done\.publish: is no list/],
    [{ nxt: [child({})] }, /^Option done: has no "nxt"; it takes write, next and publish/],
    [[child({})], /^Option done: takes an object with write, next and publish, and was given a list/],
    [async () => {}, /^Option done: takes an object/],
    [{ write: 'insert' }, /^Option done\.write: is no function/],
    [null, /^Option done: takes an object/],
  ] as const)
    expect(() => wrong(what)).toThrow(words)
  expect(isOutcome({ type: 'done', nxt: [] })).toBe(false)
  expect(isOutcome({ type: 'toString' })).toBe(false)
  expect(() => retry({ delay: '1h' } as never)).toThrow(/^Option retry: has no "delay"; it takes after and error/)
  expect(retry('2s')).toEqual(retry({ after: '2s' }))
})

test('[E-10] retry takes its delay from the kind unless it names one', () => {
  const error = new Error('busy')
  expect(retry()).toEqual({ type: 'retry' })
  expect(retry({ after: '2s', error })).toEqual({ type: 'retry', afterMs: 2_000, error })
  expect(retry({ after: 0 })).toEqual({ type: 'retry', afterMs: 0 })
})

test('[E-10] snooze takes a duration or a date', () => {
  const until = new Date('2030-01-01T00:00:00Z')
  expect(snooze('1h')).toEqual({ type: 'snooze', afterMs: 3_600_000 })
  expect(snooze(until)).toEqual({ type: 'snooze', until })
})

test('[E-10] fail keeps its error and cancel its reason', () => {
  const error = new Error('no such account')
  expect(fail(error)).toEqual({ type: 'fail', error })
  expect(cancel()).toEqual({ type: 'cancel' })
  expect(cancel('sold out')).toEqual({ type: 'cancel', reason: 'sold out' })
})

test.each<() => Outcome>([
  () => retry({ after: -1 }),
  () => retry({ after: 'x' as never }),
  () => snooze(Number.NaN),
  () => snooze(new Date(Number.NaN)),
  () => snooze(new Date(8.64e15)),
  () => snooze(new Date(Date.UTC(2030, 0, 1) / 1_000)),
])('a delay that is none is refused where it is written (%#)', (make) => {
  expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})

test.each([done(), retry(), snooze(0), fail('x'), cancel()])('%j is an outcome', (outcome) => {
  expect(isOutcome(outcome)).toBe(true)
})

test.each<[string, object]>([
  ['a delay that is no number', { type: 'retry', afterMs: Number.NaN }],
  ['a delay for ever', { type: 'retry', afterMs: Number.POSITIVE_INFINITY }],
  ['a negative delay', { type: 'snooze', afterMs: -1 }],
  ['a date that is none', { type: 'snooze', until: new Date(Number.NaN) }],
  ['a date as text', { type: 'snooze', until: 'tomorrow' }],
  ['a reason that is no text', { type: 'cancel', reason: { a: 1 } }],
  ['children that are no list', { type: 'done', next: 5 }],
  ['a write that is no function', { type: 'done', write: 5 }],
])('[E-10] what was written by hand with %s is no outcome', (_, value) => {
  expect(isOutcome(value)).toBe(false)
})

test.each([undefined, null, 0, '', 'done', [], {}, { type: 'finished' }, { type: undefined }, () => done()])(
  '%j is no outcome',
  (value) => {
    expect(isOutcome(value)).toBe(false)
  },
)
