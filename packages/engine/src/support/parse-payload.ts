/**
 * What a schema makes of a payload, or what is wrong with it. Payloads are checked in the middle of an enqueue and of a claim, where nobody can wait, so a schema that
 * asks somewhere else is refused.
 */
import type { z } from 'zod'
import { SluiceError } from './errors.ts'

export const isNoSchema = 'is no schema of zod 4; import { z } from the zod that the engine has (npm install zod@4)'

export function parsePayload<Schema extends z.ZodType>(name: string, schema: Schema, payload: unknown): z.output<Schema> {
  const parsed = parseNow(name, schema, payload)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'payload'}: ${issue.message}`).join('; ')
  throw new SluiceError('INVALID_PAYLOAD', { kind: name, issues })
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
