/**
 * What is wrong with a field, as the validator of the routes tells it, in the engine's words. Pure.
 */
import { describeIssue } from '@sluice/engine'

/** An issue of zod as the validator of the routes hands it on. */
export interface FieldIssue {
  /** The code of zod. */
  readonly keyword: string
  readonly message?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

const nameCharsMax = 100

/** An object that has fields nobody knows is wrong at those fields. */
export function strangersOf({ keyword, params }: FieldIssue): readonly string[] {
  const keys = keyword === 'unrecognized_keys' ? params?.['keys'] : []
  return Array.isArray(keys) ? keys.map((key) => String(key).slice(0, nameCharsMax)) : []
}

export function problemOf({ keyword, message, params }: FieldIssue): string {
  return describeIssue({ ...params, code: keyword, message })
}
