/**
 * Problems: what the API answers when it does not do what was asked (RFC 9457, application/problem+json).
 *
 * Whatever was thrown comes out as one: a known error by its row of the table, anything else as UNEXPECTED, with its reason in the log and
 * never in the answer.
 */
import { CollectorError } from '@sluice/collector'
import { explainConnect, isTransient, SluiceError } from '@sluice/engine'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type FieldIssue, problemOf, strangersOf } from './field-problem.ts'
import {
  collectorProblems,
  engineProblems,
  type HttpProblemCode,
  httpProblems,
  type ProblemRow,
  rightMissing,
} from './problem-table.ts'

export const problemSchema = z
  .object({
    type: z.string().describe('Where the code is explained.'),
    title: z.string(),
    status: z.int(),
    code: z.string().describe('Stable: programs switch on it.'),
    detail: z.string().describe('What to do, for a person.'),
    requestId: z.string().describe('Finds the request in the log of the server.'),
    errors: z
      .array(z.object({ field: z.string(), problem: z.string() }))
      .optional()
      .describe('The fields that are wrong, as a path such as body.options.delay.'),
    run: z.int().optional().describe('The run that is under way.'),
  })
  .meta({ id: 'Problem', description: 'Why something was not done (RFC 9457).' })

export type Problem = z.output<typeof problemSchema>

/** Status, headers and body of a refusal, before it is known which request it answers. */
export interface Refused {
  readonly code: string
  readonly row: ProblemRow
  readonly detail: string
  readonly errors?: readonly FieldError[]
  readonly run?: number
  readonly allow?: string
}

export interface FieldError {
  readonly field: string
  readonly problem: string
}

/** Thrown by whoever refuses. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal'
  readonly refused: Refused

  constructor(refused: Refused) {
    super(refused.row.title)
    this.refused = refused
  }
}

export function refuse(code: HttpProblemCode, more: Partial<Pick<Refused, 'detail' | 'errors' | 'allow'>> = {}): HttpRefusal {
  return new HttpRefusal({ ...plain(code), ...more })
}

export function notFound(what: string): HttpRefusal {
  return refuse('NOT_FOUND', { detail: `There is no ${what}. Correct it, or list what there is.` })
}

/** Total: every error has an answer. `unexpected` is one that has to be logged with its stack. */
export function explainError(error: unknown): Refused & { readonly unexpected?: boolean } {
  if (error instanceof HttpRefusal) return error.refused
  if (hasZodFastifySchemaValidationErrors(error)) return explainFields(error)
  const known = explainConnect(error)
  if (known instanceof SluiceError) return explainRight(known) ?? explainKnown(known, engineProblems[known.code])
  if (error instanceof CollectorError) return explainKnown(error, collectorProblems[error.code])
  const code = codeOf(error)
  const ours = fastifyCodes[code]
  if (ours) return plain(ours)
  if (isTransient(error)) return plain('BUSY')
  return { ...plain('UNEXPECTED'), unexpected: true }
}

function plain(code: HttpProblemCode): Refused {
  const row: ProblemRow = httpProblems[code]
  return { code, row, detail: row.detail ?? row.title }
}

function explainKnown(error: SluiceError | CollectorError, row: ProblemRow): Refused & { unexpected?: boolean } {
  const { field, problem, run } = error.details
  return {
    code: error.code,
    row,
    detail: row.detail ?? error.message,
    ...(typeof field === 'string' ? { errors: [{ field, problem: String(problem) }] } : {}),
    ...(typeof run === 'number' ? { run } : {}),
    ...(row.status === 500 ? { unexpected: true } : {}),
  }
}

const insufficientPrivilege = '42501'

/** The server's own sentence names what the role may not do, and nothing that anybody sent. */
function explainRight({ code, cause }: SluiceError): Refused | undefined {
  if (!(cause instanceof Error) || codeOf(cause) !== insufficientPrivilege) return undefined
  const cure =
    "select sluice.admit('ROLE') with the name of that role, and select sluice.admit('ROLE', 'collector') for what is collected"
  const detail = `The role that this server works with lacks a right: ${cause.message}. Let the owner of the schema run: ${cure}.`
  return { code, row: rightMissing, detail }
}

interface InvalidFields {
  readonly validationContext?: string | undefined
  readonly validation: readonly (FieldIssue & { readonly instancePath: string })[]
}

function explainFields({ validationContext, validation }: InvalidFields): Refused {
  const context = validationContext === 'querystring' ? 'query' : (validationContext ?? 'request')
  const errors = validation.flatMap((issue) => {
    const field = [context, ...issue.instancePath.split('/').filter(Boolean)].join('.')
    const strangers = strangersOf(issue).map((name) => `${field}.${name}`)
    return (strangers.length > 0 ? strangers : [field]).map((at) => ({ field: at, problem: problemOf(issue) }))
  })
  return { ...plain('INVALID_REQUEST'), errors: errors.slice(0, fieldErrorsMax) }
}

const fieldErrorsMax = 20

const fastifyCodes: Readonly<Record<string, HttpProblemCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'NOT_JSON',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'INVALID_JSON',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'INVALID_JSON',
  FST_ERR_CTP_INVALID_JSON_BODY: 'INVALID_JSON',
  FST_ERR_BAD_URL: 'MALFORMED',
  FST_ERR_MAX_PARAM_LENGTH: 'URL_TOO_LONG',
  FST_ERR_HANDLER_TIMEOUT: 'ANSWER_TOO_LATE',
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  // The parser refuses poisoned or broken JSON with a plain SyntaxError and a status of its own.
  return 'statusCode' in error && error.statusCode === 400 ? 'FST_ERR_CTP_INVALID_JSON_BODY' : ''
}

/** The body of the answer. */
export function toProblem(refused: Refused, requestId: string): Problem {
  const { code, row, detail, errors, run } = refused
  return {
    type: `/docs#${code}`,
    title: row.title,
    status: row.status,
    code,
    detail,
    requestId,
    ...(errors ? { errors: errors.map((error) => ({ ...error })) } : {}),
    ...(run === undefined ? {} : { run }),
  }
}

export function headersOf({ row, allow }: Refused): Record<string, string> {
  return {
    'content-type': 'application/problem+json',
    ...(row.retryAfterSeconds === undefined ? {} : { 'retry-after': String(row.retryAfterSeconds) }),
    ...(allow === undefined ? {} : { allow }),
  }
}
