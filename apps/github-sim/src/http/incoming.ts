/**
 * A request as it comes from the socket, and what can be read from it before anybody decides anything: which API it wants,
 * with which token, under which operation name, for pages of which size.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Resource } from '../budget/budgets.ts'
import { readAuthorization } from '../token/tokens.ts'

export interface Incoming {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly address: string
  /** Where this server listens, for callers that send no Host. */
  readonly origin: string
}

export interface Facts {
  readonly api: 'rest' | 'graphql'
  readonly resource: Resource
  readonly path: string
  readonly query: URLSearchParams
  readonly base: string
  readonly token: string | undefined
  readonly json: unknown
  readonly operation: string | null
  readonly pageSize: number | undefined
}

export function readFacts(incoming: Incoming): Facts {
  const at = incoming.url.indexOf('?')
  const whole = at < 0 ? incoming.url : incoming.url.slice(0, at)
  const query = new URLSearchParams(at < 0 ? '' : incoming.url.slice(at + 1))
  const enterprise = whole === '/api/v3' || whole.startsWith('/api/v3/')
  const path = enterprise ? whole.slice('/api/v3'.length) : whole
  const origin = incoming.headers.host === undefined ? incoming.origin : `http://${incoming.headers.host}`
  const isGraphql = path === '/graphql' || whole === '/api/graphql'
  const token = readAuthorization(incoming.headers.authorization)
  const shared = { path, query, base: enterprise ? `${origin}/api/v3` : origin, token }
  if (!isGraphql) {
    const perPage = query.get('per_page')
    const resource = path.startsWith('/search/') ? 'search' : 'core'
    return {
      api: 'rest',
      resource,
      ...shared,
      json: undefined,
      operation: null,
      pageSize: perPage === null ? undefined : Number(perPage),
    }
  }
  const json = parse(incoming.body)
  return { api: 'graphql', resource: 'graphql', ...shared, json, operation: operationOf(json), pageSize: pageSizeOf(json) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

interface GraphqlBody {
  readonly query?: unknown
  readonly operationName?: unknown
  readonly variables?: unknown
}
const bodyOf = (json: unknown): GraphqlBody => (typeof json === 'object' && json !== null ? json : {})

function operationOf(json: unknown): string | null {
  const { operationName, query } = bodyOf(json)
  if (typeof operationName === 'string' && operationName !== '') return operationName
  return /\b(?:query|mutation)\s+(\w+)/.exec(typeof query === 'string' ? query : '')?.[1] ?? 'anonymous'
}

/** The largest page the query could ask for: numbers after `first` and `last`, and variables that look like page sizes. */
function pageSizeOf(json: unknown): number | undefined {
  const { query, variables } = bodyOf(json)
  const sizes: number[] = []
  for (const found of (typeof query === 'string' ? query : '').matchAll(/\b(?:first|last)\s*:\s*(\d+)/g))
    sizes.push(Number(found[1]))
  for (const [name, value] of Object.entries(variables ?? {}))
    if (typeof value === 'number' && /first|last|size|page|count|limit/i.test(name)) sizes.push(value)
  return sizes.length === 0 ? undefined : Math.max(...sizes)
}
