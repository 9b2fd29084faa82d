/** Events as values: what can be defined, and what a request must be before it reaches the database. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineKind } from '../job/kind.ts'
import { done, isOutcome } from '../job/outcome.ts'
import { defineEvent, encodeEvent } from './event.ts'

const closed = defineEvent('study.closed', { payload: z.object({ id: z.number(), note: z.string().optional() }) })
const limits = { payloadBytesMax: 1_000 }

test('[E-17] an event that is called makes a request, which becomes a row', () => {
  expect(closed.name).toBe('study.closed')
  const { event, row } = encodeEvent(closed({ id: 1 }, { owner: 'ann' }), limits, { job: 7, run: undefined, cause: 3 })
  expect(event).toBe('study.closed')
  expect(JSON.parse(row)).toEqual({ type: 'study.closed', payload: { id: 1 }, owner: 'ann', job: 7, cause: 3 })
})

test('[E-17] an invalid payload is refused, and the message names the field', () => {
  const wrong = () => encodeEvent(closed({ id: 'one' as never }), limits)
  expect(wrong).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD', message: expect.stringContaining('id: ') }))
})

test.for<[string, unknown, string, object]>([
  ['too large', { id: 1, note: 'x'.repeat(2_000) }, 'PAYLOAD_TOO_LARGE', {}],
  ['with a NUL', { id: 1, note: 'a\0b' }, 'PAYLOAD_NOT_STORABLE', {}],
  ['without JSON form', { id: 1n }, 'PAYLOAD_NOT_STORABLE', {}],
  ['of nobody', { id: 1 }, 'INVALID_OPTION', { owner: '' }],
  ['of half a name', { id: 1 }, 'INVALID_OPTION', { owner: '\ud83d' }],
  ['with an option that is not there', { id: 1 }, 'INVALID_OPTION', { delay: '1s' }],
])('[E-17] a request %s is refused', ([, payload, code, options]) => {
  expect(() => encodeEvent(closed(payload as never, options), limits)).toThrow(expect.objectContaining({ code }))
})

test.for<[string, () => unknown]>([
  ['a name with spaces', () => defineEvent('study closed')],
  ['a name that the engine tells itself', () => defineEvent('run.completed')],
  ['a payload that is no schema', () => defineEvent('study.closed', { payload: {} as never })],
  ['a subscription to a name', () => defineKind('a', { on: ['study.closed'] as never, run: () => {} })],
  ['a subscriber with a key of its own', () => defineKind('a', { on: [closed], key: () => 'k', run: () => {} })],
  ['a subscriber with a lane of its own', () => defineKind('a', { on: [closed], lane: () => 'l', run: () => {} })],
  ['a subscriber with a cost of its own', () => defineKind('a', { on: [closed], cost: () => 2, run: () => {} })],
  ['a subscriber that is once in its run', () => defineKind('a', { on: [closed], dedupe: 'once', run: () => {} })],
])('[E-17] %s is refused where it is defined', ([, define]) => {
  expect(define).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})

test('[E-17] an outcome may publish a list, and nothing else', () => {
  expect(done({ publish: [closed({ id: 1 })] })).toMatchObject({ type: 'done', publish: [{ payload: { id: 1 } }] })
  expect(done({ publish: [] })).toEqual({ type: 'done' })
  expect(isOutcome({ type: 'done', publish: [] })).toBe(true)
  expect(isOutcome({ type: 'done', publish: closed({ id: 1 }) })).toBe(false)
})
