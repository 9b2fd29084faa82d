/**
 * The configuration for people and logs: each value with where it came from, secrets left out.
 */
import { type FieldName, fields } from './fields.ts'
import type { Config, Origin } from './read-config.ts'

export interface DescribedField {
  readonly name: FieldName
  /** Null when nothing was said and nothing is assumed. */
  readonly value: unknown
  readonly from: Origin['from']
  /** Which flag, variable or file. For a default: what it is. */
  readonly place: string
}

const addresses = new Set<FieldName>(['database', 'redis'])
const redacted = '[redacted]'

export function describeConfig(config: Config): DescribedField[] {
  return fields.map(({ name, secret }) => {
    const value = config[name]
    const { from, place } = config.origins[name]
    const shown = value === undefined ? null : secret ? redacted : addresses.has(name) ? withoutPasswords(value as string) : value
    return { name, value: shown, from, place }
  })
}

/** Those of a cluster have commas between them. */
function withoutPasswords(value: string): string {
  return value.split(',').map(withoutPassword).join(',')
}

/** Passwords stand before the host, or in the query. */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return redacted
  const url = new URL(address)
  if (url.password) url.password = 'redacted'
  for (const name of new Set(url.searchParams.keys()))
    if (/passw|secret|token/i.test(name)) url.searchParams.set(name, 'redacted')
  return url.href
}
