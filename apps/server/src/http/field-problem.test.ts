/** Each way in which a field can be wrong, in words that say what would be right. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { problemOf, strangersOf } from './field-problem.ts'
import { duration, id, idInUrl, text } from './fields.ts'

const rows: [name: string, schema: z.ZodType, value: unknown, told: string][] = [
  ['missing', text(10), undefined, 'is missing; give a text'],
  ['of another type', text(10), 5, 'must be a text, and is a number'],
  ['a list for an object', z.object({}), [], 'must be an object, and is a list'],
  ['no number in an address', idInUrl, 'abc', 'must be a number, and is no number'],
  ['half a number', id, 1.5, 'must be a whole number, and is a number'],
  ['empty', text(10), '', 'is empty; give at least one character'],
  ['too long', text(10), 'x'.repeat(11), 'must have at most 10 characters'],
  ['too small', z.int().min(1), 0, 'must be at least 1'],
  ['too large', z.number().max(1_000), 5_000, 'must be at most 1,000'],
  ['not enough', z.array(z.string()).length(2), ['a'], 'must have exactly 2 entries'],
  ['too many', z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 entry'],
  ['a word that is not in the list', z.enum(['graphql', 'rest']), 'soap', 'is none of these: graphql, rest'],
  [
    'of neither form',
    z.union([z.enum(['a']), z.array(z.string())]),
    5,
    'fits none of its forms: is none of these: a; or must be a list, and is a number',
  ],
  ['a duration', duration, 'soon', 'write 250ms, 2s, 10m, 1h, 7d or milliseconds'],
  ['what the schema says itself', z.string().refine(() => false, 'comes before `from`'), 'x', 'comes before `from`'],
]

test.for(rows)('[O-03] a field that is %s', ([, schema, value, told]) => {
  const issue = schema.safeParse(value).error?.issues[0]
  const { code, message, path: _, ...params } = issue as z.core.$ZodIssue
  expect(problemOf({ keyword: code, message, params })).toBe(told)
})

test('[O-03] a field that nobody knows is named itself', () => {
  const issue = z.strictObject({ a: z.string() }).safeParse({ a: '', b: 1, c: 2 }).error?.issues[0]
  const { code, message, path: _, ...params } = issue as z.core.$ZodIssue
  expect(strangersOf({ keyword: code, message, params })).toEqual(['b', 'c'])
  expect(problemOf({ keyword: code, message, params })).toBe('is no field here; leave it out, or correct its name')
})
