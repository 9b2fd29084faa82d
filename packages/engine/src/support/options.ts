/**
 * Options as plain JavaScript gives them: a name with a typing error must not go unnoticed, for what it was meant to say would not hold.
 */
import { SluiceError } from './errors.ts'

/** `of` is what takes them, as people call it. */
export function checkOptions(of: string, options: object, names: readonly string[]): void {
  const refuse = (problem: string): never => {
    throw new SluiceError('INVALID_OPTION', { field: of, problem })
  }
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    refuse(`takes an object with ${list(names)}, and was given ${Array.isArray(options) ? 'a list' : typeof options}`)
  for (const name in options) if (!names.includes(name)) refuse(`has no "${name}"; it takes ${list(names)}`)
}

function list(names: readonly string[]): string {
  return names.length === 1 ? `${names[0]}` : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** Answers it. What is no number would be a complaint of PostgreSQL about a bigint. */
export function checkId(of: string, id: number): number {
  if (Number.isSafeInteger(id)) return id
  const given = typeof id === 'object' ? 'an object; give its id' : String(id)
  throw new SluiceError('INVALID_OPTION', { field: `id of a ${of}`, problem: `is a whole number, and this is ${given}` })
}
