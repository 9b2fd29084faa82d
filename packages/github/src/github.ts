/**
 * The client: makes the request, sends it, hands what came back to `classify`. It has no state, so one client serves all users;
 * budgets, pauses and retries are the caller's business, who alone knows what else is waiting.
 */
import type { Answer } from './answer/answer.ts'
import { classify, unheard } from './answer/classify.ts'
import type { Asked } from './answer/reading.ts'
import { requestHeaders } from './call/headers.ts'
import { type Outgoing, send } from './call/send.ts'
import { GithubError } from './errors.ts'
import { countCost } from './graphql/cost.ts'
import { type GithubOptions, readOptions, type Settings } from './options.ts'
import { openToken, type Token, withoutToken } from './token.ts'

export interface RestCall {
  readonly token: Token
  /** `/repositories/1/commits`, or the absolute `next` of an answer. Another host is refused as malformed; nothing is sent. */
  readonly path: string
  readonly query?: Record<string, string | number | undefined>
  readonly etag?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface GraphqlCall {
  readonly token: Token
  readonly query: string
  readonly variables?: Record<string, unknown>
  readonly signal?: AbortSignal | undefined
}

/** Both never reject for what a server can do; only for wrong use (GithubError), and with the signal's reason when it aborts. */
export interface Github {
  /** The address that it asks, without a slash at the end. */
  readonly baseUrl: string
  rest<T>(call: RestCall): Promise<Answer<T>>
  graphql<T>(call: GraphqlCall): Promise<Answer<T>>
}

export function createGithub(options: GithubOptions = {}): Github {
  const settings = readOptions(options)
  return {
    baseUrl: settings.baseUrl,
    async rest<T>({ token, path, query, etag, signal }: RestCall): Promise<Answer<T>> {
      const secret = openToken(token)
      const url = restUrl(settings, path, query ?? {})
      const headers = requestHeaders(secret, settings.userAgent, etag)
      const asked: Asked = { kind: 'rest', conditional: 'if-none-match' in headers, url, origin: settings.origin, points: 1 }
      if (new URL(url).origin !== settings.origin) return refused(settings)
      return ask<T>(settings, asked, { url, method: 'GET', headers, signal }, secret)
    },
    async graphql<T>({ token, query, variables, signal }: GraphqlCall): Promise<Answer<T>> {
      const secret = openToken(token)
      const url = settings.graphqlUrl
      const headers = { ...requestHeaders(secret, settings.userAgent), 'content-type': 'application/json' }
      const asked: Asked = {
        kind: 'graphql',
        conditional: false,
        url,
        origin: settings.origin,
        points: pointsOf(query, variables),
      }
      return ask<T>(settings, asked, { url, method: 'POST', headers, body: bodyOf(query, variables), signal }, secret)
    },
  }
}

async function ask<T>(settings: Settings, asked: Asked, outgoing: Outgoing, secret: string): Promise<Answer<T>> {
  const heard = await send(outgoing, settings)
  const answer = 'problem' in heard ? unheard(asked, heard) : classify(asked, heard, heard.at)
  return withoutToken(answer as Answer<T>, secret)
}

/** Paths are put behind the base, never resolved against it: `//elsewhere` and `@elsewhere` would lead the token away. */
function restUrl({ baseUrl }: Settings, path: string, query: Record<string, string | number | undefined>): string {
  const text = path.startsWith('/') ? baseUrl + path : path
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new GithubError('GITHUB_BAD_CALL', { problem: '`path` must begin with / or be the link of an answer' })
  const url = new URL(text)
  // fetch refuses an address with credentials.
  url.hash = url.username = url.password = ''
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  return url.href
}

const refused = ({ now }: Settings): Answer<never> => ({
  type: 'malformed',
  message: 'the link leads to another host; nothing was sent',
  status: 0,
  budget: undefined,
  cost: 0,
  servedAt: new Date(now()),
  pollIntervalMs: undefined,
})

function bodyOf(query: string, variables: Record<string, unknown> | undefined): string {
  try {
    return JSON.stringify({ query, variables })
  } catch {
    throw new GithubError('GITHUB_BAD_CALL', { problem: 'the variables cannot be written as JSON' })
  }
}

/** A query that we cannot read is still sent: GitHub's own refusal says more. */
function pointsOf(query: string, variables: Record<string, unknown> | undefined): number {
  try {
    return countCost(query, variables).points
  } catch {
    return 1
  }
}
