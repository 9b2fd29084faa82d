/** Requests: what is encoded comes back from PostgreSQL as it was, and what PostgreSQL cannot store is refused before it gets there. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { z } from 'zod'
import { test } from '../../../../test/support/database.ts'
import { defineKind } from './kind.ts'
import { type EncodedRequest, encodeRequest, type JobOptions, type JobRequest } from './request.ts'

const any = defineKind('any', { payload: z.unknown(), run: () => {} })
const limits = { payloadBytesMax: 1_000_000 }
const encode = (payload: unknown, options?: JobOptions): unknown =>
  decode(encodeRequest({ kind: any, payload, ...(options ? { options } : {}) }, limits))

/** As the statement for jobs of all sorts gets it. */
const decode = ({ kind, payload, fields }: EncodedRequest): unknown =>
  JSON.parse(`{"kind":${JSON.stringify(kind)},"payload":${payload}${fields}}`)

/** Letters, signs of JSON itself, every plane of Unicode: all but NUL and halves of surrogate pairs. */
const storable = fc.string({
  unit: fc.oneof(
    fc.constantFrom('a', '"', '\\', '\\u0000', '\\\\u0000', '\\ud800', '\n', '\u0001', '\u2028', '💥', 'u0000'),
    fc.integer({ min: 1, max: 0x10ffff }).map((code) => (code >= 0xd800 && code <= 0xdfff ? 'x' : String.fromCodePoint(code))),
  ),
})
const unstorable = fc.constantFrom('\0', '\uD800', '\uDBFF', '\uDC00', '\uDFFF', '\uDC00\uD800')

test('[E-01] a payload without NUL characters and half surrogate pairs comes back from PostgreSQL as it was', async ({
  client,
}) => {
  const json = fc.object({ key: storable, values: [storable, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()] })
  await fc.assert(
    fc.asyncProperty(json, storable, async (payload, text) => {
      const encoded = encodeRequest({ kind: any, payload: { payload, text } }, limits).payload
      const { rows } = await client.query(`select $1::jsonb as payload`, [encoded])
      expect(rows[0].payload).toEqual(JSON.parse(JSON.stringify({ payload, text })))
    }),
    { numRuns: 200 },
  )
})

test('[E-01] a payload with a NUL character or half a surrogate pair is refused, wherever it stands', () => {
  const place = fc.constantFrom(
    (text: string) => text,
    (text: string) => ({ deep: [{ text }] }),
    (text: string) => ({ [text]: 1 }),
  )
  // A half between other halves could complete a pair, so the neighbours are whole characters.
  fc.assert(
    fc.property(storable, unstorable, storable, place, (before, bad, after, put) => {
      expect(() => encode(put(`${before}${bad}${after}`))).toThrow(expect.objectContaining({ code: 'PAYLOAD_NOT_STORABLE' }))
    }),
  )
})

test('[E-01] a payload is checked as the handler will get it, however it was given', () => {
  class Point {
    n = 1
    toJSON = (): string => 'a point'
  }
  const seen: unknown[] = []
  const kind = Object.assign(() => ({ kind, payload: {} }), {
    kindName: 'seen',
    check: (payload: unknown) => void seen.push(payload),
  })
  const given = [
    { n: 1, text: 'a', yes: true },
    { n: 0.1 },
    { n: undefined, m: 1 },
    { n: null },
    { at: new Date(0) },
    { deep: { n: 1 } },
    { list: [1, undefined] },
    { toJSON: () => 'another' },
    Object.create({ inherited: 1 }, { n: { value: 1, enumerable: true } }),
    Object.assign(Object.create(null), { n: 1 }),
    new Point(),
    [1, 2],
    'text',
    null,
  ]
  for (const payload of given) encodeRequest({ kind, payload }, limits)
  expect(seen).toEqual(given.map((payload) => JSON.parse(JSON.stringify(payload ?? {}))))
})

test.for([
  ['n is NaN', { n: Number.NaN }],
  ['deep.0.n is -Infinity', { deep: [{ n: Number.NEGATIVE_INFINITY }] }],
  ['at is an invalid Date', { at: new Date('soon'), gone: null }],
  ['it is Infinity', Number.POSITIVE_INFINITY],
] as const)('[E-01] what JSON would make null of without a word is refused by its field: %s', ([problem, payload]) => {
  expect(() => encodeRequest({ kind: 'any', payload }, limits)).toThrow(
    expect.objectContaining({
      code: 'PAYLOAD_NOT_STORABLE',
      message: expect.stringContaining(`${problem}, which would become null`),
    }),
  )
})

test.for([
  ['it is a Map, which would become {}; pass Object.fromEntries(map)', new Map([['a', 1]])],
  ['deep.0.tags is a Set, which would become {}; pass [...set]', { deep: [{ tags: new Set(['a']) }] }],
] as const)('[E-01] what JSON would empty without a word is refused by its field: %s', ([problem, payload]) => {
  expect(() => encodeRequest({ kind: 'any', payload }, limits)).toThrow(
    expect.objectContaining({ code: 'PAYLOAD_NOT_STORABLE', message: expect.stringContaining(problem) }),
  )
})

test('[E-01] what is empty, and a Map that says itself how it is written, are stored', () => {
  const told = Object.assign(new Map([['a', 1]]), { toJSON: () => ({ a: 1 }) })
  expect(encode({ none: {}, told })).toMatchObject({ payload: { none: {}, told: { a: 1 } } })
})

test('[E-05] debounceMax is refused where nothing says debounce, and taken where somebody does or may', () => {
  const put = (dedupe: 'keep' | 'debounce' | undefined, options: JobOptions) => () =>
    encodeRequest(defineKind('index', { ...(dedupe ? { dedupe } : {}), run: () => {} })({}, options), limits)
  const capped = { delay: '10m', debounceMax: '1h' } as const
  const refused = expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining("`dedupe: 'debounce'`") })
  expect(put(undefined, capped)).toThrow(refused)
  expect(put('keep', capped)).toThrow(refused)
  expect(put('debounce', capped)).not.toThrow()
  expect(put(undefined, { ...capped, dedupe: 'debounce' })).not.toThrow()
  expect(() => encodeRequest({ kind: 'index', payload: {}, options: capped }, limits)).not.toThrow()
})

test('a request without options is its kind and its payload', () => {
  expect(encode({ a: 1 })).toEqual({ kind: 'any', payload: { a: 1 } })
  expect(encode(undefined)).toEqual({ kind: 'any', payload: {} })
})

test('every option travels under the name that the database knows', () => {
  const runAt = new Date('2030-01-01T00:00:00Z')
  expect(
    encode({}, { runAt, priority: -5, owner: 'ann', key: 'k', dedupe: 'again', uniqueFor: '1h', pool: 'heavy', attempts: 3 }),
  ).toEqual({
    kind: 'any',
    payload: {},
    run_at: runAt.toISOString(),
    priority: -5,
    owner: 'ann',
    key: 'k',
    mode: 'again',
    unique_ms: 3_600_000,
    pool: 'heavy',
    max_attempts: 3,
  })
  expect(encode({}, { delay: '2s', dedupe: 'debounce', debounceMax: '1m' })).toMatchObject({
    delay_ms: 2_000,
    debounce_max_ms: 60_000,
  })
  expect(encode({}, {})).toEqual({ kind: 'any', payload: {} })
})

test('a request knows whether it waits, and for which pool it is', () => {
  const encoded = (options: JobOptions) => encodeRequest(any({}, options), limits)
  expect(encoded({ pool: 'heavy' })).toMatchObject({ pool: 'heavy', delayed: false })
  expect(encoded({ delay: 0 })).toMatchObject({ pool: undefined, delayed: true })
  expect(encoded({ runAt: new Date(0) })).toMatchObject({ delayed: true })
})

test('children carry their family', () => {
  expect(decode(encodeRequest(any({}), limits, { family: { parent: 7, root: 3 } }))).toMatchObject({ parent: 7, root: 3 })
})

test('[E-01] a payload is checked as its handler will get it, so what JSON changes is refused at the door', () => {
  const visit = defineKind('visit', { payload: z.object({ at: z.date() }), run: () => {} })
  expect(() => encodeRequest(visit({ at: new Date(0) }), limits)).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD' }))
  const coerced = defineKind('visit', { payload: z.object({ at: z.coerce.date() }), run: () => {} })
  expect(encodeRequest(coerced({ at: new Date(0) }), limits).payload).toContain('"at":"1970-01-01T00:00:00.000Z"')
})

test.for<[string, object, RegExp]>([
  ['a time as text', { runAt: '2030-01-01' }, /^Option runAt: is no Date between 1970 and 9999; give one/],
  ['a date that is none', { runAt: new Date(Number.NaN) }, /^Option runAt: is no Date/],
  ['a date before 1970', { runAt: new Date(-1) }, /^Option runAt: is no Date/],
  ['a delay without end', { delay: Number.POSITIVE_INFINITY }, /^Option delay: Infinity is no duration; write '250ms'/],
  ['a delay that is a word', { delay: 'soon' }, /^Option delay: "soon" is no duration; write '250ms'/],
  ['a window that is a truth', { uniqueFor: true }, /^Option uniqueFor: true is no duration/],
])('%s is refused with the name of its field and what to write', ([_name, options, message]) => {
  expect(() => encodeRequest({ kind: any, payload: {}, options } as JobRequest, limits)).toThrow(message)
})

test('[E-01] a kind that this process does not define is not checked here', () => {
  expect(encodeRequest({ kind: 'elsewhere', payload: { anything: true } }, limits)).toMatchObject({ kind: 'elsewhere' })
})

test('the limit counts bytes, not characters, and holds to the byte', () => {
  const bytes = (payload: string, payloadBytesMax: number) => () => encodeRequest({ kind: any, payload }, { payloadBytesMax })
  // Two quotation marks belong to the JSON text.
  expect(bytes('ü'.repeat(499), 1_000)).not.toThrow()
  expect(bytes('ü'.repeat(500), 1_000)).toThrow(
    expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE', details: { kind: 'any', bytes: 1_002, limit: 1_000 } }),
  )
  expect(bytes('x'.repeat(998), 1_000)).not.toThrow()
  expect(bytes('x'.repeat(999), 1_000)).toThrow(expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }))
})
