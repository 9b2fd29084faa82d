/**
 * Several lists in one call: each repository is asked for by its node id under an alias of its own (`r0`, `r1` …), and answers for itself. One that is gone
 * or closed to this token says so by an error at its alias, beside the data of the others.
 */
import type { GraphqlError } from '@sluice/github'
import type { z } from 'zod'

export interface ListItem {
  /** GitHub's number of the repository, and its node id. */
  readonly id: number
  readonly node: string
  readonly first: number
  readonly after?: string | undefined
}

export type Part<T> =
  | { readonly type: 'read'; readonly data: T }
  | { readonly type: 'gone' }
  | { readonly type: 'forbidden'; readonly reason: string }
  | { readonly type: 'trouble'; readonly reason: string }

/** Cursors and ids are variables; page sizes stand in the text, where their cost can be counted. */
export function batchQuery<I extends ListItem>(
  name: string,
  items: readonly I[],
  fields: (item: I, at: number) => { readonly text: string; readonly variables?: Readonly<Record<string, string>> },
): { query: string; variables: Record<string, unknown> } {
  const variables: Record<string, unknown> = {}
  const declared: string[] = []
  const parts = items.map((item, at) => {
    const { text, variables: own = {} } = fields(item, at)
    const given: Record<string, [string, string | null]> = {
      [`n${at}`]: ['ID!', item.node],
      [`a${at}`]: ['String', item.after ?? null],
    }
    for (const [key, value] of Object.entries(own)) {
      const [variable, type] = key.split(':') as [string, string]
      given[variable] = [type, value]
    }
    for (const [variable, [type, value]] of Object.entries(given)) {
      declared.push(`$${variable}: ${type}`)
      variables[variable] = value
    }
    return `  r${at}: node(id: $n${at}) { ... on Repository { ${text} } }`
  })
  return { query: `query ${name}(${declared.join(', ')}) {\n  rateLimit { cost }\n${parts.join('\n')}\n}`, variables }
}

export function readBatch<S extends z.ZodType>(
  data: unknown,
  errors: readonly GraphqlError[],
  count: number,
  schema: S,
): Part<z.output<S>>[] {
  const answers = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>
  return Array.from({ length: count }, (_, at): Part<z.output<S>> => {
    const alias = `r${at}`
    const own = errors.filter(({ path }) => path?.[0] === alias)
    const node = answers[alias]
    if (own.length > 0) return explain(own)
    if (node === null) return { type: 'gone' }
    const parsed = schema.safeParse(node)
    if (parsed.success) return { type: 'read', data: parsed.data }
    const issue = parsed.error.issues[0]
    return {
      type: 'trouble',
      reason: `GitHub's answer has another form than expected at ${[alias, ...(issue?.path ?? [])].join('.')}`,
    }
  })
}

function explain(errors: readonly GraphqlError[]): Part<never> {
  const [first] = errors
  const types = new Set(errors.map(({ type }) => type))
  if (types.has('NOT_FOUND')) return { type: 'gone' }
  if (types.has('FORBIDDEN') || types.has('INSUFFICIENT_SCOPES'))
    return { type: 'forbidden', reason: first?.message ?? 'forbidden' }
  return { type: 'trouble', reason: first?.message ?? 'no answer' }
}
