/**
 * What a schema makes of a payload, or what is wrong with it. Payloads are checked in the middle of an enqueue and of a claim, where nobody can wait, so a schema that
 * asks somewhere else is refused.
 *
 * What is checked is what JSON makes of the payload, so a schema that wants a Date never gets one, whatever was passed: then the refusal says what to write instead.
 */
import type { z } from 'zod'
import { SluiceError } from './errors.ts'

export const isNoSchema = 'is no schema of zod 4; import { z } from the zod that the engine has (npm install zod@4)'

const instead: Readonly<Record<string, string>> = {
  date: 'a Date is text: use z.coerce.date() or z.iso.datetime()',
  map: 'there is no Map: use z.record() and pass Object.fromEntries(map)',
  set: 'there is no Set: use z.array() and pass [...set]',
  bigint: 'there is no bigint: use z.coerce.bigint() and pass text',
}

export function parsePayload<Schema extends z.ZodType>(name: string, schema: Schema, payload: unknown): z.output<Schema> {
  const parsed = parseNow(name, schema, payload)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'payload'}: ${issue.message}`).join('; ')
  const hints = [...new Set(parsed.error.issues.flatMap(expectedBy))].flatMap((type) => instead[type] ?? [])
  const hint = hints.length === 0 ? '' : `. The payload is checked as JSON, where ${hints.join('; ')}`
  throw new SluiceError('INVALID_PAYLOAD', { kind: name, issues: `${issues}${hint}` })
}

/** The types that would have fitted, also those of the forms of a union. */
function expectedBy(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'invalid_union') return issue.errors.flat().flatMap(expectedBy)
  return issue.code === 'invalid_type' ? [issue.expected] : []
}

function parseNow<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  payload: unknown,
): z.ZodSafeParseResult<z.output<Schema>> {
  try {
    return schema.safeParse(payload)
  } catch (cause) {
    // By its name: a schema may come from another copy of zod.
    if (!(cause instanceof Error) || cause.constructor.name !== '$ZodAsyncError') throw cause
    const problem = 'has an asynchronous check; leave it out of the schema, and look things up in the handler'
    throw new SluiceError('INVALID_OPTION', { field: `${name}.payload`, problem }, cause)
  }
}
