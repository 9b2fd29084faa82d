/** What chaos answers with: the words of a real refusal, or damage to an answer that was good. */
import type { ParsedRule, Trouble } from '../chaos/rule.ts'
import type { GraphqlTrap } from '../graphql/host.ts'
import type { Reply } from '../rest/ask.ts'
import * as problems from '../rest/problems.ts'

export interface TroubleContext {
  readonly api: 'rest' | 'graphql'
  readonly payer: number | string
  readonly requestId: string
  readonly now: number
}

const html = (status: number, title: string): Reply => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<html>\r\n<head><title>${status} ${title}</title></head>\r\n<body>\r\n<center><h1>${status} ${title}</h1></center>\r\n</body>\r\n</html>\r\n`,
})

export const rateLimited = (payer: number | string): Reply => ({
  status: 200,
  body: { errors: [{ type: 'RATE_LIMITED', message: `API rate limit exceeded for user ID ${payer}.` }] },
})

/** Nothing for troubles that damage the answer instead of replacing it. */
export function replyOfTrouble({ trouble, retryAfterSeconds }: ParsedRule, context: TroubleContext): Reply | undefined {
  const { api, payer, requestId, now } = context
  const table: Partial<Record<Trouble, () => Reply>> = {
    'server error': () => ({ status: 500, body: { message: 'Server Error' } }),
    'bad gateway': () => html(502, 'Bad Gateway'),
    unavailable: () => ({
      ...html(503, 'Service Unavailable'),
      headers: {
        'content-type': 'text/html',
        ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      },
    }),
    'gateway timeout': () => ({
      status: 504,
      body: {
        message:
          "We couldn't respond to your request in time. Sorry about that. Please try resubmitting your request and contact us if the problem persists.",
      },
    }),
    computing: () => ({ status: 202, body: {} }),
    'no content': () => ({ status: 204 }),
    'not found': () => problems.notFound(),
    gone: () => problems.issueDeleted(),
    empty: () => problems.emptyRepository(),
    dmca: () => problems.dmca(now),
    tos: () => problems.tos(now),
    sso: () => problems.sso('example-org'),
    ip: () => problems.ipNotAllowed('example-org'),
    permission: () => problems.noPermission(),
    'login attempts': () => problems.loginAttempts(),
    'bad credentials': () => problems.badCredentials(api),
    'validation failed': () => problems.validationFailed('Search', 'q', 'invalid'),
    'primary limit': () => (api === 'rest' ? problems.primaryLimit(payer) : rateLimited(payer)),
    'secondary limit': () => problems.secondaryLimit(retryAfterSeconds ?? 60, requestId),
    'secondary limit without retry-after': () => problems.secondaryLimit(undefined, requestId),
    abuse: () => problems.abuse(retryAfterSeconds),
    RATE_LIMITED: () => rateLimited(payer),
    RATE_LIMIT: () => ({
      status: 200,
      body: {
        errors: [
          { type: 'RATE_LIMIT', code: 'graphql_rate_limit', message: `API rate limit already exceeded for user ID ${payer}.` },
        ],
      },
    }),
    'not json': () => ({ ...html(200, 'OK'), body: '<!DOCTYPE html><html><body>Unicorn!</body></html>' }),
  }
  return table[trouble]?.()
}

/** Troubles that only GraphQL itself can answer, because their price and their partial data depend on the query. */
export function trapOfTrouble(trouble: Trouble): GraphqlTrap | undefined {
  if (trouble === 'RESOURCE_LIMITS_EXCEEDED') return { trap: 'resource limits' }
  if (trouble === 'graphql timeout') return { trap: 'timeout', status: 200 }
  if (trouble === 'bad gateway') return { trap: 'timeout', status: 502 }
  if (trouble === 'gateway timeout') return { trap: 'timeout', status: 504 }
  if (trouble === 'insufficient scopes') return { trap: 'insufficient scopes', granted: [], needed: ['read:user'] }
  return undefined
}

/** Whether the answer tells the caller to wait, for what, and how long. */
export function waitOfTrouble({
  trouble,
  retryAfterSeconds,
}: ParsedRule): { scope: 'resource' | 'all'; ms?: number } | undefined {
  if (trouble === 'primary limit' || trouble === 'RATE_LIMITED' || trouble === 'RATE_LIMIT') return { scope: 'resource' }
  if (trouble === 'secondary limit' || trouble === 'secondary limit without retry-after' || trouble === 'abuse')
    return { scope: 'all', ms: (retryAfterSeconds ?? 60) * 1000 }
  return undefined
}

/** Links that lie: to another host, or back to the same page. */
export function damageLinks(reply: Reply, trouble: Trouble, here: string): Reply {
  if (trouble !== 'foreign link' && trouble !== 'loop link') return reply
  const target = trouble === 'foreign link' ? 'http://elsewhere.invalid/repositories/1/issues?page=2' : here
  return { ...reply, headers: { ...reply.headers, link: `<${target}>; rel="next"` } }
}
