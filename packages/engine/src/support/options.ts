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
    refuse(
      `takes an object with ${list(names)}, and was given ${options === null ? 'null' : Array.isArray(options) ? 'a list' : typeof options}`,
    )
  for (const name in options) if (!names.includes(name)) refuse(`has no "${name}"; it takes ${list(names)}`)
}

function list(names: readonly string[]): string {
  return names.length === 1 ? `${names[0]}` : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** Answers it. What is no number would be a complaint of PostgreSQL about a bigint. */
export function checkId(of: string, id: number): number {
  if (Number.isSafeInteger(id)) return id
  const given =
    typeof id === 'object'
      ? 'an object; give its id'
      : typeof id === 'number'
        ? `${id}${id % 1 === 0 ? ', too large for one' : ''}`
        : `${JSON.stringify(id)}${typeof id === 'string' && /^[1-9]\d{0,14}$/.test(id) ? `; write Number(${JSON.stringify(id)})` : ''}`
  throw new SluiceError('INVALID_OPTION', {
    field: `id of ${/^[aeiou]/.test(of) ? 'an' : 'a'} ${of}`,
    problem: `is a whole number, and this is ${given}`,
  })
}

/** One or several, as a list. A text is a list of its letters to whoever goes through it, and each might be the number of another job. */
export function checkIds(of: string, ids: number | readonly number[]): number[] {
  return Array.isArray(ids) ? ids.map((id: number) => checkId(of, id)) : [checkId(of, ids as number)]
}

/** Answers it. */
export function checkCount(field: string, count: number): number {
  if (Number.isSafeInteger(count) && count > 0) return count
  throw new SluiceError('INVALID_OPTION', { field, problem: `is a whole number from 1 on, and this is ${JSON.stringify(count)}` })
}
