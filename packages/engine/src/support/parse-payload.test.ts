/** A schema of something that JSON does not have: the refusal says what to write instead. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { parsePayload } from './parse-payload.ts'

const refusal = (schema: z.ZodType, payload: unknown): string => {
  try {
    parsePayload('mail', schema, JSON.parse(JSON.stringify(payload)))
    return ''
  } catch (error) {
    return String((error as Error).message)
  }
}

const wrong: [schema: z.ZodType, payload: unknown, said: string][] = [
  [
    z.object({ at: z.date() }),
    { at: new Date(0) },
    'at: Invalid input: expected date, received string. The payload is checked as JSON, where a Date is text: use z.coerce.date() or z.iso.datetime()',
  ],
  [z.object({ at: z.date().optional() }), { at: new Date(0) }, 'z.coerce.date()'],
  [z.object({ at: z.union([z.date(), z.number()]) }), { at: new Date(0) }, 'z.coerce.date()'],
  [z.object({ by: z.map(z.string(), z.number()) }), { by: { a: 1 } }, 'there is no Map: use z.record()'],
  [z.object({ tags: z.set(z.string()) }), { tags: ['a'] }, 'there is no Set: use z.array()'],
  [z.object({ n: z.bigint() }), { n: 1 }, 'there is no bigint: use z.coerce.bigint()'],
]

test.for(wrong)('[E-01] a type that JSON does not have is refused with what to use instead: %#', ([schema, payload, said]) => {
  expect(refusal(schema, payload)).toContain(said)
})

test('[E-01] the hint comes once, and only where it helps', () => {
  const twice = refusal(z.object({ from: z.date(), to: z.date() }), { from: new Date(0), to: new Date(1) })
  expect(twice.match(/checked as JSON/g)).toHaveLength(1)
  expect(refusal(z.object({ at: z.number() }), { at: 'soon' })).toMatch(/received string$/)
})

test('[E-01] what the hint names takes what a program passes', () => {
  const schema = z.object({ at: z.coerce.date(), on: z.iso.datetime(), n: z.coerce.bigint() })
  const given = { at: new Date(0), on: new Date(0), n: '7' }
  expect(parsePayload('mail', schema, JSON.parse(JSON.stringify(given)))).toEqual({
    at: new Date(0),
    on: '1970-01-01T00:00:00.000Z',
    n: 7n,
  })
})
