/**
 * What a GraphQL answer means. Almost everything comes with status 200, so the errors are read by type and by words; a table
 * in reading order again. Errors that leave data behind are part of an `ok`, unless the data would mislead: after a limit or a
 * query that was too heavy, a null is not "there is none", it is "not computed".
 */
import type { GraphqlError, Said } from './answer.ts'
import { primaryLimit, saysPrimary, saysSecondary, secondaryLimit } from './limit-rules.ts'
import { fieldOf, type Reading, short, textOf } from './reading.ts'
import { flawRules, malformed, type Rule, sharedRules, trouble } from './rest-rules.ts'

/** 10 seconds of the server's time were over; it says so with 200, 502 and 504, in JSON and in HTML. */
const timeoutWords = /Something went wrong while executing your query|respond to your request in time/i

const all = (reading: Reading): GraphqlError[] => readErrors(reading.json)
const some = (reading: Reading, matches: (error: GraphqlError) => boolean): boolean => all(reading).some(matches)
const typed =
  (...types: string[]) =>
  (reading: Reading): boolean =>
    some(reading, ({ type }) => type !== undefined && types.includes(type))
const said =
  (matches: (words: string) => boolean) =>
  (reading: Reading): boolean =>
    matches(reading.words) || some(reading, ({ message }) => matches(message))
const first = (reading: Reading): string => all(reading)[0]?.message || reading.message
const tooHeavy = (reading: Reading): Said<never> => ({ type: 'too heavy', message: first(reading) })
const invalid = (reading: Reading): Said<never> => ({ type: 'invalid', message: first(reading), deepPage: false })
const hasData = ({ json }: Reading): boolean => typeof fieldOf(json, 'data') === 'object' && fieldOf(json, 'data') !== null

export const graphqlRules: readonly Rule[] = [
  ...sharedRules,
  // A load balancer gave up on the query: HTML, or nothing at all. Timeouts cost points, so the same again is the wrong answer.
  [({ status }) => status === 502 || status === 504, tooHeavy],
  [({ status }) => status >= 500 && status <= 599, trouble],
  ...flawRules,
  // A 404 is about the endpoint. It must not look like something that was deleted.
  [
    ({ status }) => status === 404 || status === 410,
    ({ status }) => malformed(`the GraphQL address answers ${status}; check graphqlUrl`),
  ],
  [({ status }) => status >= 400 && status <= 499, invalid],
  [({ status }) => status !== 200, ({ status }) => malformed(`status ${status} is none that GraphQL uses`)],
  [({ json }) => json === undefined, () => malformed('the body is not JSON')],
  // Secondary limits may come with 200.
  [said((words) => saysSecondary(words)), secondaryLimit],
  // RATE_LIMIT is what GitHub says since 2026, RATE_LIMITED what it said before; x-ratelimit-remaining may not be 0.
  [(reading) => typed('RATE_LIMITED', 'RATE_LIMIT')(reading) || said(saysPrimary)(reading), primaryLimit],
  [typed('RESOURCE_LIMITS_EXCEEDED', 'MAX_NODE_LIMIT_EXCEEDED'), tooHeavy],
  [said((words) => timeoutWords.test(words)), tooHeavy],
  // The query is wrong, and the null in its data says nothing about GitHub.
  [typed('MISSING_PAGINATION_BOUNDARIES', 'EXCESSIVE_PAGINATION'), invalid],
  [hasData, ok],
  // Nothing but errors. Sorted as their REST sisters are.
  [(reading) => some(reading, isSso(reading)), (reading) => ({ type: 'forbidden', kind: 'sso', message: first(reading) })],
  [typed('FORBIDDEN', 'INSUFFICIENT_SCOPES'), (reading) => ({ type: 'forbidden', kind: 'permission', message: first(reading) })],
  [(reading) => all(reading).length > 0 && all(reading).every(({ type }) => type === 'NOT_FOUND'), () => ({ type: 'gone' })],
  [(reading) => all(reading).length > 0, invalid],
  [() => true, () => malformed('the answer has neither data nor errors')],
]

const errorsMax = 100

function readErrors(json: unknown): GraphqlError[] {
  const errors = fieldOf(json, 'errors')
  if (!Array.isArray(errors)) return []
  return errors.slice(0, errorsMax).map((error: unknown) => ({
    type: textOf(fieldOf(error, 'type')) || textOf(fieldOf(fieldOf(error, 'extensions'), 'code')) || undefined,
    message: short(textOf(fieldOf(error, 'message'))),
    path: readPath(fieldOf(error, 'path')),
  }))
}

const readPath = (path: unknown): (string | number)[] | undefined =>
  Array.isArray(path)
    ? path.filter((part): part is string | number => typeof part === 'string' || typeof part === 'number')
    : undefined

/** An organization behind single sign-on: said by a flag, and in words. */
const isSso = (reading: Reading) => {
  const errors = fieldOf(reading.json, 'errors')
  const flagged =
    Array.isArray(errors) && errors.some((error: unknown) => fieldOf(fieldOf(error, 'extensions'), 'saml_failure') === true)
  return ({ message }: GraphqlError): boolean => flagged || /SAML enforcement/i.test(message)
}

function ok(reading: Reading): Said<unknown> {
  return {
    type: 'ok',
    data: fieldOf(reading.json, 'data'),
    next: undefined,
    etag: undefined,
    lastModified: undefined,
    errors: all(reading),
    sso: some(reading, isSso(reading)) ? 'partial' : undefined,
  }
}
