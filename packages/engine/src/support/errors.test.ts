/** Errors: every code has a message that says what to do, and whatever was thrown can be stored with a job. */
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { test } from '../../../../test/support/database.ts'
import { type ErrorCode, errorTable, SluiceError, storeError } from './errors.ts'

const circular: { self?: unknown } = {}
circular.self = circular
const tampered = (fields: object): Error => Object.assign(new Error('boom'), fields)
const throwing = (key: string): Error =>
  Object.defineProperty(new Error('boom'), key, {
    get: () => {
      throw new Error('not even that')
    },
  })

test('an error carries its code, its details in the message, and its cause', () => {
  const cause = new Error('below')
  const error = new SluiceError('UNKNOWN_KIND', { kind: 'mail' }, cause)
  expect(error).toMatchObject({ name: 'SluiceError', code: 'UNKNOWN_KIND', details: { kind: 'mail' }, cause })
  expect(error.message).toBe('No kind is registered as "mail". Start a process that defines it once, or correct the name.')
  expect(new SluiceError('ENGINE_STOPPED')).not.toHaveProperty('cause')
})

test('a detail that is missing is a question mark, and one that looks like a pattern is taken to the letter', () => {
  expect(new SluiceError('UNKNOWN_KIND').message).toContain('"?"')
  expect(new SluiceError('UNKNOWN_KIND', { kind: '$& {kind}' }).message).toContain('"$& {kind}"')
})

test.for(Object.keys(errorTable) as ErrorCode[])('%s says something in a full sentence', (code) => {
  expect(new SluiceError(code).message).toMatch(/^[A-Z].*[.?]$/)
})

describe('whatever was thrown becomes plain text', () => {
  test.for<[string, unknown, string]>([
    ['a string', 'no route', 'no route'],
    ['null', null, 'null'],
    ['undefined', undefined, 'undefined'],
    ['a number', 42, '42'],
    ['a bigint', 10n, '10'],
    ['a symbol', Symbol('x'), 'Symbol(x)'],
    ['a plain object', { status: 500 }, '{"status":500}'],
    ['a circular object', circular, '[object Object]'],
    ['an error without a message', new TypeError(), 'TypeError'],
    ['an error', new Error('boom'), 'boom'],
  ])('%s', ([, thrown, message]) => {
    expect(storeError(thrown).message).toBe(message)
  })

  test.for<[string, unknown]>([
    ['an error whose stack is null', tampered({ stack: null })],
    ['an error whose message is a number', tampered({ message: 5 })],
    ['an error whose message is an object', tampered({ message: { a: 1 } })],
    ['an error whose code is a number', tampered({ code: 5 })],
    ['an error that throws when its message is read', throwing('message')],
    ['an error that throws when its stack is read', throwing('stack')],
    ['an error that throws when its code is read', throwing('code')],
    ['a proxy that was revoked', revoked()],
    ['an object that throws when it is written as JSON', { toJSON: () => JSON.parse('{') }],
  ])('%s', ([, thrown]) => {
    const stored = storeError(thrown)
    expect(stored).toEqual(JSON.parse(JSON.stringify(stored)))
    expect(stored.message).toEqual(expect.any(String))
  })
})

test('what brought an error about is kept behind it, once, and not without end', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
  expect(storeError(new TypeError('fetch failed', { cause: refused }))).toMatchObject({
    message: 'fetch failed (because: connect ECONNREFUSED 127.0.0.1:1)',
    code: 'ECONNREFUSED',
  })
  const all = new AggregateError([new Error('one'), 'two'], 'none worked')
  expect(storeError(all).message).toBe('none worked (because: one; two)')
  expect(storeError(new Error(`it said: ${refused.message}`, { cause: refused })).message).toBe(`it said: ${refused.message}`)
  const circle = new Error('round')
  circle.cause = new Error('and', { cause: circle })
  expect(storeError(circle).message.length).toBeLessThan(200)
})

test('code and stack are kept, so that a person can find the place', () => {
  const stored = storeError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
  expect(stored).toEqual({ message: 'refused', code: 'ECONNREFUSED', stack: expect.stringContaining('errors.test.ts') })
})

test('an error is bounded, however much was thrown', () => {
  const huge = 'x'.repeat(1_000_000)
  const error = Object.assign(new Error(huge), { code: huge })
  const stored = storeError(error)
  expect(stored.message).toHaveLength(4_000)
  expect(stored.stack).toHaveLength(8_000)
  expect(stored.code).toHaveLength(100)
  expect(storeError({ huge }).message).toHaveLength(4_000)
})

test('PostgreSQL stores whatever was thrown, NUL characters and half surrogate pairs included', async ({ client }) => {
  const text = fc.string({ unit: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\0', '\uD800', '\uDC00', '💥')) })
  await fc.assert(
    fc.asyncProperty(text, fc.nat(5), async (message, cut) => {
      const stored = storeError(Object.assign(new Error('x'.repeat(3_998 + cut) + message), { code: message }))
      const { rows } = await client.query('select $1::jsonb as error', [JSON.stringify(stored)])
      expect(rows[0].error).toEqual(stored)
    }),
    { numRuns: 60 },
  )
})

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
