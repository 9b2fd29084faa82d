/**
 * The filter that options of a command describe. Only what was given is in it.
 */
import type { JobFilter } from '@sluice/engine'

const names = ['state', 'kind', 'pool', 'lane', 'owner', 'run', 'tree', 'error'] as const

export function filterOf(options: Readonly<Record<string, unknown>>): JobFilter {
  return Object.fromEntries(names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]))
}

export function pageOf(options: Readonly<Record<string, unknown>>): { limit?: number; cursor?: string } {
  const { limit, cursor } = options as { limit?: number; cursor?: string }
  return { ...(limit === undefined ? {} : { limit }), ...(cursor === undefined ? {} : { cursor }) }
}
