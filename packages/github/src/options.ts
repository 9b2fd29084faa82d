/**
 * What the client is made with, checked once. GitHub Enterprise has its REST API under `/api/v3` and GraphQL beside it under
 * `/api/graphql`; github.com and the simulator have both under one root.
 */
import { GithubError } from './errors.ts'

export interface GithubOptions {
  /** Default https://api.github.com; GitHub Enterprise: https://host/api/v3. */
  readonly baseUrl?: string
  /** Default: `baseUrl` + /graphql, and …/api/graphql beside …/api/v3. */
  readonly graphqlUrl?: string
  readonly userAgent?: string
  /** For the whole answer, from the first byte sent to the last one read. */
  readonly timeoutMs?: number
  /** Counted after decompression. */
  readonly bodyBytesMax?: number
  readonly now?: () => number
}

export interface Settings {
  readonly baseUrl: string
  readonly origin: string
  readonly graphqlUrl: string
  readonly userAgent: string
  readonly timeoutMs: number
  readonly bodyBytesMax: number
  readonly now: () => number
}

/** The version of this package; a test compares it with package.json. */
export const version = '0.1.0'

export function readOptions(options: GithubOptions): Settings {
  const base = readUrl('baseUrl', options.baseUrl ?? 'https://api.github.com')
  const baseUrl = base.href.replace(/\/+$/, '')
  const graphqlUrl =
    options.graphqlUrl ?? (baseUrl.endsWith('/api/v3') ? baseUrl.replace(/v3$/, 'graphql') : `${baseUrl}/graphql`)
  const userAgent = options.userAgent ?? `sluice/${version}`
  if (!/^[\x20-\x7e]{1,200}$/.test(userAgent) || userAgent.trim() === '')
    throw bad('userAgent', 'it must be 1 to 200 printable ASCII characters')
  return {
    baseUrl,
    origin: base.origin,
    graphqlUrl: readUrl('graphqlUrl', graphqlUrl).href,
    userAgent,
    timeoutMs: readLimit('timeoutMs', options.timeoutMs ?? 30_000, 2 ** 31 - 1),
    bodyBytesMax: readLimit('bodyBytesMax', options.bodyBytesMax ?? 20_000_000, 500_000_000),
    now: options.now ?? Date.now,
  }
}

function readUrl(field: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw bad(field, 'it must be an http or https address')
  if (url.username || url.password || url.search || url.hash) throw bad(field, 'it must have no credentials, query or fragment')
  return url
}

function readLimit(field: string, value: number, max: number): number {
  if (!Number.isInteger(value) || value < 1 || value > max) throw bad(field, `it must be a whole number from 1 to ${max}`)
  return value
}

const bad = (field: string, problem: string) => new GithubError('GITHUB_BAD_OPTION', { field, problem })
