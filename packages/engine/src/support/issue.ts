/**
 * What is wrong with something that was given, and what would be right, in our words. A schema that says it itself is taken at its word; what zod says by default is
 * for programmers of zod.
 */
import { z } from 'zod'
import { SluiceError } from './errors.ts'

/** An issue of zod, also as validators hand it on. */
export interface Issue {
  readonly code: string
  readonly message?: string | undefined
  readonly [part: string]: unknown
}

const namesShownMax = 40
const standard = z.locales.en().localeError

const types: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  date: 'a Date',
  function: 'a function',
  null: 'null',
  NaN: 'no number',
}

/** Answers what the schema makes of it, or refuses it as an option. `of` is where it belongs, as people call it; without it the field stands alone. */
export function checkFields<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
  ...of: readonly string[]
): z.output<Schema> {
  const checked = schema.safeParse(given)
  if (checked.success) return checked.data
  // What is missing may be there under a wrong name.
  const { issues } = checked.error
  const issue = (issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]) as z.core.$ZodIssue
  const stranger = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const field = [...of, ...issue.path, ...stranger].map(escaped).join('.') || 'options'
  throw new SluiceError('INVALID_OPTION', { field, problem: problemIn(schema, issue) })
}

/** A name with characters that nobody can see is told with their escapes. */
const escaped = (part: PropertyKey): string => JSON.stringify(String(part)).slice(1, -1)

function problemIn(schema: z.ZodType, issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return describeIssue(issue as never)
  const known = namesAt(schema, issue.path).slice(0, namesShownMax)
  return known.length > 0 ? `is not known here; there are ${known.join(', ')}` : 'is not known here; correct its name'
}

/** The names of the object that lies there. */
function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = schema
  for (const name of [...path, undefined]) {
    while (at instanceof z.ZodOptional || at instanceof z.ZodDefault || at instanceof z.ZodNullable) at = at.unwrap()
    if (name === undefined) break
    at = at instanceof z.ZodObject ? at.shape[name as string] : undefined
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : []
}

export function describeIssue({ code, message = '', ...parts }: Issue): string {
  if (code === 'custom' || !isStandard(code, message, parts)) return said(message) || 'is not usable'
  switch (code) {
    case 'invalid_type':
      return wrongType(message)
    case 'too_small':
    case 'too_big':
      return wrongSize(code, parts)
    case 'invalid_value':
      return `is none of these: ${listOf(parts['values']).map(String).join(', ')}`
    case 'unrecognized_keys':
      return 'is no field here; leave it out, or correct its name'
    case 'not_multiple_of':
      return `must be a multiple of ${String(parts['divisor'])}`
    case 'invalid_format':
      return wrongForm(parts)
    case 'invalid_key':
      return branches({ errors: [parts['issues']] })
    case 'invalid_union':
      return `fits none of its forms: ${branches(parts)}`
    default:
      return 'is not usable'
  }
}

/** The word of a schema without one of its own. */
const said = (message: string): string => (message === 'Invalid input' ? '' : message)

/** What was received stands in the message alone. */
const typeMessage = /^Invalid input: expected (?<expected>\w+), received (?<received>\w+)$/

function isStandard(code: string, message: string, parts: object): boolean {
  if (code === 'invalid_type') return typeMessage.test(message)
  const expected = standard({ code, ...parts } as never)
  return message === (typeof expected === 'string' ? expected : expected?.message)
}

function wrongType(message: string): string {
  const { expected = '', received = '' } = typeMessage.exec(message)?.groups ?? {}
  const wanted = types[expected] ?? `of the type ${expected}`
  return received === 'undefined' ? `is missing; give ${wanted}` : `must be ${wanted}, and is ${types[received] ?? received}`
}

function wrongForm({ pattern, format = 'the description says' }: { pattern?: string; format?: string }): string {
  return pattern === undefined ? `must be written as ${format}` : `must match ${pattern}`
}

function wrongSize(code: 'too_small' | 'too_big', parts: Readonly<Record<string, unknown>>): string {
  const isSmall = code === 'too_small'
  const limit = Number(parts[isSmall ? 'minimum' : 'maximum'])
  const bound = parts['exact'] === true ? 'exactly' : isSmall ? 'at least' : 'at most'
  const shown = limit.toLocaleString('en-US')
  if (parts['origin'] === 'string')
    return isSmall && limit === 1 ? 'is empty; give at least one character' : `must have ${bound} ${shown} characters`
  if (parts['origin'] === 'array' || parts['origin'] === 'set')
    return `must have ${bound} ${shown} ${limit === 1 ? 'entry' : 'entries'}`
  return `must be ${parts['inclusive'] === false ? (isSmall ? 'more than' : 'less than') : bound} ${shown}`
}

/** Each form says what it lacks. */
function branches(parts: Readonly<Record<string, unknown>>): string {
  const told = listOf(parts['errors']).map((issues) => {
    const [first] = listOf(issues) as (Issue & { path?: readonly unknown[] })[]
    if (!first) return 'is not usable'
    const { path = [], ...issue } = first
    return `${path.length > 0 ? `${path.join('.')} ` : ''}${describeIssue(issue)}`
  })
  return [...new Set(told)].join('; or ')
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
