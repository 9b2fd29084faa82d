/**
 * What is wrong with a field, and what would be right, in our words. A schema that says it itself is taken at its word; what zod says by default is for programmers.
 * Pure.
 */
import { z } from 'zod'

/** An issue of zod as the validator of the routes hands it on. */
export interface FieldIssue {
  /** The code of zod. */
  readonly keyword: string
  readonly message?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

const nameCharsMax = 100
const standard = z.locales.en().localeError

const types: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  date: 'a time',
  null: 'null',
  NaN: 'no number',
}

/** An object that has fields nobody knows is wrong at those fields. */
export function strangersOf({ keyword, params }: FieldIssue): readonly string[] {
  return keyword === 'unrecognized_keys' ? listOf(params?.['keys']).map((key) => String(key).slice(0, nameCharsMax)) : []
}

export function problemOf({ keyword, message = '', params = {} }: FieldIssue): string {
  if (keyword === 'custom' || !isStandard(keyword, message, params)) return message || 'is not usable'
  switch (keyword) {
    case 'invalid_type':
      return wrongType(message)
    case 'too_small':
    case 'too_big':
      return wrongSize(keyword, params)
    case 'invalid_value':
      return `is none of these: ${listOf(params['values']).map(String).join(', ')}`
    case 'unrecognized_keys':
      return 'is no field here; leave it out, or correct its name'
    case 'not_multiple_of':
      return `must be a multiple of ${String(params['divisor'])}`
    case 'invalid_format':
      return wrongForm(params)
    case 'invalid_union':
      return `fits none of its forms: ${branches(params)}`
    default:
      return 'is not usable; /openapi.json says what is'
  }
}

/** What was received stands in the message alone. */
const typeMessage = /^Invalid input: expected (?<expected>\w+), received (?<received>\w+)$/

function isStandard(keyword: string, message: string, params: object): boolean {
  if (keyword === 'invalid_type') return typeMessage.test(message)
  const said = standard({ code: keyword, ...params } as never)
  return message === (typeof said === 'string' ? said : said?.message)
}

function wrongType(message: string): string {
  const { expected = '', received = '' } = typeMessage.exec(message)?.groups ?? {}
  const wanted = types[expected] ?? `of the type ${expected}`
  return received === 'undefined' ? `is missing; give ${wanted}` : `must be ${wanted}, and is ${types[received] ?? received}`
}

function wrongForm({ pattern, format = 'the description says' }: { pattern?: string; format?: string }): string {
  return pattern === undefined ? `must be written as ${format}` : `must match ${pattern}`
}

function wrongSize(keyword: 'too_small' | 'too_big', params: Readonly<Record<string, unknown>>): string {
  const isSmall = keyword === 'too_small'
  const limit = Number(params[isSmall ? 'minimum' : 'maximum'])
  const bound = params['exact'] === true ? 'exactly' : isSmall ? 'at least' : 'at most'
  const shown = limit.toLocaleString('en-US')
  if (params['origin'] === 'string')
    return isSmall && limit === 1 ? 'is empty; give at least one character' : `must have ${bound} ${shown} characters`
  if (params['origin'] === 'array' || params['origin'] === 'set')
    return `must have ${bound} ${shown} ${limit === 1 ? 'entry' : 'entries'}`
  return `must be ${params['inclusive'] === false ? (isSmall ? 'more than' : 'less than') : bound} ${shown}`
}

/** Each form says what it lacks. */
function branches(params: Readonly<Record<string, unknown>>): string {
  const told = listOf(params['errors']).map((issues) => {
    const [first] = listOf(issues) as { code: string; message: string; path?: readonly unknown[] }[]
    if (!first) return 'is not usable'
    const { code, message, path = [], ...rest } = first
    return `${path.length > 0 ? `${path.join('.')} ` : ''}${problemOf({ keyword: code, message, params: rest })}`
  })
  return [...new Set(told)].join('; or ')
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
