/**
 * Texts that PostgreSQL can store: it takes neither NUL nor half of a surrogate pair.
 */
import { z } from 'zod'
import { SluiceError } from './errors.ts'

export const unstorable = 'contains a NUL character or half of a surrogate pair; remove it'

export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

// In JSON text a character that PostgreSQL refuses stands as an escape that is not itself escaped.
const unstorableEscape = /(?<!\\)(?:\\\\)*\\u(?:0000|[dD][89a-fA-F])/

/** The same of what `JSON.stringify` made. */
export function isStorableJson(json: string): boolean {
  return !json.includes('\\u') || !unstorableEscape.test(json)
}

/** The name of a pool, a lane, an owner or a process. */
export const nameField = z.string().min(1).max(200).refine(isStorable, unstorable)

/** Answers it. For words of people, such as the reason of a pause, and for names. */
export function checkText<T extends string | undefined>(field: string, text: T): T {
  if (text === undefined || (typeof text === 'string' && isStorable(text))) return text
  const problem = typeof text === 'string' ? unstorable : `is a text, and this is ${JSON.stringify(text)}`
  throw new SluiceError('INVALID_OPTION', { field, problem })
}
