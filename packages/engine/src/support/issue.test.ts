/** What is wrong with an option is said by the name of the field and in words that tell what to give instead. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { SluiceError } from './errors.ts'
import { checkFields } from './issue.ts'

const schema = z.strictObject({
  name: z.string().min(1).max(3).optional(),
  size: z.int().min(1).max(1_000).optional(),
  share: z.number().gt(0).lt(1).optional(),
  mode: z.enum(['keep', 'again']).optional(),
  list: z
    .array(z.strictObject({ at: z.int() }))
    .min(2)
    .optional(),
  either: z.union([z.string(), z.strictObject({ url: z.string() })]).optional(),
  even: z.int().multipleOf(2).optional(),
  code: z
    .string()
    .regex(/^[a-z]+$/)
    .optional(),
  told: z.string({ error: 'give the address, e.g. here' }).optional(),
  own: z.custom(() => false, 'is no kind; make it with defineKind').optional(),
  nested: z.strictObject({ core: z.int(), max: z.int() }).optional(),
})

const mistakes: [given: unknown, said: string][] = [
  [{ name: '' }, 'Option name: is empty; give at least one character.'],
  [{ name: 'long' }, 'Option name: must have at most 3 characters.'],
  [{ name: 5 }, 'Option name: must be a text, and is a number.'],
  [{ size: 0 }, 'Option size: must be at least 1.'],
  [{ size: 1_001 }, 'Option size: must be at most 1,000.'],
  [{ size: Number.NaN }, 'Option size: must be a number, and is no number.'],
  [{ share: 1 }, 'Option share: must be less than 1.'],
  [{ mode: 'twice' }, 'Option mode: is none of these: keep, again.'],
  [{ list: [{ at: 1 }] }, 'Option list: must have at least 2 entries.'],
  [{ list: [{ at: 1 }, { at: '2' }] }, 'Option list.1.at: must be a number, and is a text.'],
  [
    { either: 5 },
    'Option either: fits none of its forms: must be a text, and is a number; or must be an object, and is a number.',
  ],
  [{ even: 3 }, 'Option even: must be a multiple of 2.'],
  [{ code: 'A1' }, 'Option code: must match /^[a-z]+$/.'],
  [{ told: 5 }, 'Option told: give the address, e.g. here.'],
  [{ own: 5 }, 'Option own: is no kind; make it with defineKind.'],
  [{ nested: { core: 1, max: 2, min: 0 } }, 'Option nested.min: is not known here; there are core, max.'],
  [{ nested: { core: 1 } }, 'Option nested.max: is missing; give a number.'],
  [undefined, 'Option options: is missing; give an object.'],
  [null, 'Option options: must be an object, and is null.'],
]

test.for(mistakes)('%o is refused by name', ([given, said]) => {
  expect(() => checkFields(schema, given)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', message: said }))
})

test('a field is named with what it is part of, and what fits is handed on', () => {
  expect(() => checkFields(schema, { sise: 1 }, 'pool', 'light')).toThrow(SluiceError)
  expect(() => checkFields(schema, { sise: 1 }, 'pool', 'light')).toThrow(
    /pool\.light\.sise: is not known here; there are name, size/,
  )
  expect(checkFields(schema, { size: 5 })).toEqual({ size: 5 })
})
