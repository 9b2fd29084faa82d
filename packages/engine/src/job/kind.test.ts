/** Kinds: what a definition may say, what calling a kind makes, and that a wrong definition names its field. */
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { defineKind, type KindDefinition } from './kind.ts'
import { encodeRequest } from './request.ts'
import { delays } from './retry.ts'

const run = (): void => {}
const mail = z.object({ to: z.email(), copies: z.number().default(1) })

test('[E-01] a kind with an option that does not exist is refused by its name', () => {
  const wrong = { run: () => {}, attempts: 3 } as unknown as { run: () => void }
  expect(() => defineKind('mail.send', wrong)).toThrow(
    /^Option mail\.send\.attempts: is not known here; there are payload, pool, /,
  )
})

test('[E-01] a kind has a name, and defaults for all that was left out', () => {
  const kind = defineKind('mail.send', { run })
  expect(kind.name).toBe('mail.send')
  expect({ ...kind }).toMatchObject({
    kindName: 'mail.send',
    pool: 'light',
    priority: 0,
    timeoutMs: 600_000,
    retry: { attempts: 5 },
  })
  expect({ ...kind }).toMatchObject({ dedupe: undefined, uniqueForMs: undefined, module: undefined })
})

test('a kind keeps what its definition says', () => {
  const kind = defineKind('mail.send', {
    payload: mail,
    pool: 'heavy',
    priority: 10,
    retry: delays(['1s']),
    timeout: '5s',
    dedupe: 'again',
    uniqueFor: '1h',
    run,
  })
  expect({ ...kind }).toMatchObject({ pool: 'heavy', priority: 10, timeoutMs: 5_000, dedupe: 'again', uniqueForMs: 3_600_000 })
  expect(kind.retry.attempts).toBe(2)
})

test('calling a kind makes a request and nothing else', () => {
  const kind = defineKind('mail.send', { payload: mail, run })
  expect(kind({ to: 'ann@example.com' })).toEqual({ kind, payload: { to: 'ann@example.com' } })
  expect(kind({ to: 'ann@example.com' }, { delay: '1s' })).toEqual({
    kind,
    payload: { to: 'ann@example.com' },
    options: { delay: '1s' },
  })
})

test('the types of a payload are what the schema takes at enqueue and what it makes at run', () => {
  const kind = defineKind('mail.send', {
    payload: mail,
    run({ payload }) {
      expectTypeOf(payload).toEqualTypeOf<{ to: string; copies: number }>()
    },
  })
  expectTypeOf(kind).parameter(0).toEqualTypeOf<{ to: string; copies?: number | undefined }>()
})

test('[E-01] a payload is checked against the schema, and every issue is named by its path', () => {
  const kind = defineKind('mail.send', { payload: mail, run })
  expect(kind.parse({ to: 'ann@example.com' })).toEqual({ to: 'ann@example.com', copies: 1 })
  expect(() => kind.check({ to: 'nobody', copies: 'two' })).toThrow(
    expect.objectContaining({ code: 'INVALID_PAYLOAD', message: expect.stringMatching(/"mail.send".*to: .*; copies: /) }),
  )
  expect(() => kind.check(null)).toThrow(expect.objectContaining({ message: expect.stringContaining('payload: ') }))
})

test('a kind without a schema takes any object, and nothing else', () => {
  const kind = defineKind('any', { run })
  expect(kind.parse({ a: [1] })).toEqual({ a: [1] })
  for (const payload of [undefined, null, 1, 'x', []]) expect(() => kind.check(payload)).toThrow()
})

test('[E-05] the key function makes the key of a request, and a key of the caller goes before it', () => {
  const kind = defineKind('mail.send', { payload: mail, key: ({ to }) => to, run })
  expect(kind({ to: 'ann@example.com' }).options).toEqual({ key: 'ann@example.com' })
  expect(kind({ to: 'ann@example.com' }, { priority: 3 }).options).toEqual({ key: 'ann@example.com', priority: 3 })
  expect(kind({ to: 'ann@example.com' }, { key: 'mine' }).options).toEqual({ key: 'mine' })
})

test('[E-05] a key function whose answer is no key is refused when the job is enqueued', () => {
  const kind = defineKind('mail.send', { payload: mail, key: () => '', run })
  expect(() => encodeRequest(kind({ to: 'ann@example.com' }), { payloadBytesMax: 1_000 })).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION', details: expect.objectContaining({ field: 'key' }) }),
  )
})

describe('a definition that cannot work is refused with the name of the field', () => {
  test.each<[string, object]>([
    ['mail.payload', { payload: {}, run }],
    ['mail.pool', { pool: '', run }],
    ['mail.priority', { priority: 1_001, run }],
    ['mail.priority', { priority: 0.5, run }],
    ['mail.retry', { retry: 5, run }],
    ['mail.retry', { retry: { attempts: 3 }, run }],
    ['mail.retry', { retry: { attempts: 0, delayMs: () => 0 }, run }],
    ['mail.timeout', { timeout: 'soon', run }],
    ['mail.timeout', { timeout: 0, run }],
    ['mail.timeout', { timeout: Number.POSITIVE_INFINITY, run }],
    ['mail.dedupe', { dedupe: 'sometimes', run }],
    ['mail.key', { key: 'id', run }],
    ['mail.uniqueFor', { uniqueFor: -1, run }],
    ['mail.module', { module: './heavy.js' }],
    ['mail.run', {}],
    ['mail.run', { run: 'now' }],
    ['mail', { run, prioritty: 1 }],
  ])('%s: %j', (field, definition) => {
    expect(() => defineKind('mail', definition as KindDefinition<never, unknown>)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(`Option ${field}`) }),
    )
  })

  test.each(['', '1st', 'with space', 'a/b', 'a#b', 'ä', '.x', 'x'.repeat(101)])('the name %j', (name) => {
    expect(() => defineKind(name, { run })).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        details: expect.objectContaining({ field: 'kind' }),
        message: expect.stringContaining('dashes and underscores, a letter first'),
      }),
    )
    expect(defineKind('a_b-c.d1', { run }).name).toBe('a_b-c.d1')
  })
})
