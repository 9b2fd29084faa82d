/**
 * Options as plain JavaScript gives them. What is missing, wrong or not known is refused by name before anything is made or
 * started, because deep inside it would be a complaint of Node or PostgreSQL about something that the caller never wrote.
 */
import { LocalPostgresError } from './errors.ts'

/** Answers what is wrong with a value and what to give instead, or nothing. */
export type Check = (value: unknown) => string | undefined

/** One for each field, so that a new field cannot do without. */
export type Checks<Options> = { readonly [name in keyof Options]-?: Check }

/** `of` is what takes them, as people call it. A wrong name is told before a missing one. */
export function checkOptions<Options>(of: string, options: Options, checks: Checks<Options>): void {
  const names = Object.keys(checks)
  const given: unknown = options
  if (!isRecord(given)) throw refused(of, `takes an object with ${list(names)}, and was given ${kindOf(given)}`)
  for (const name in given) if (!names.includes(name)) throw refused(of, `has no "${name}"; it takes ${list(names)}`)
  for (const [name, check] of Object.entries<Check>(checks)) {
    const problem = check(given[name])
    if (problem) throw refused(`${name} of ${of}`, problem)
  }
}

export function optional(check: Check): Check {
  return (value) => (value === undefined ? undefined : check(value))
}

export function text(wanted: string): Check {
  return (value) => {
    if (typeof value !== 'string') return `${isOf(value)}; give ${wanted}`
    if (value === '') return `is empty; give ${wanted}`
    return value.includes('\0') ? `holds a NUL character; give ${wanted}` : undefined
  }
}

export function callable(wanted: string): Check {
  return (value) => (typeof value === 'function' ? undefined : `${isOf(value)}; give ${wanted}`)
}

/** An object in which every value is a text. */
export function texts(wanted: string): Check {
  return (value) => {
    if (!isRecord(value)) return `${isOf(value)}; give ${wanted}`
    const wrong = Object.keys(value).find((name) => typeof value[name] !== 'string')
    return wrong === undefined ? undefined : `has a ${wrong} that ${isOf(value[wrong])}; give ${wanted}`
  }
}

function refused(field: string, problem: string): LocalPostgresError {
  return new LocalPostgresError('LOCAL_POSTGRES_OPTION', { field, problem })
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isOf(value: unknown): string {
  return value === undefined ? 'is missing' : `is ${kindOf(value)}`
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function list(names: readonly string[]): string {
  return names.length === 1 ? `${names[0]}` : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
