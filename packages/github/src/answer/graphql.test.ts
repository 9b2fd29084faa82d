import { expect, test } from 'vitest'
import { heardGraphql, limitHeaders, type Reply } from '../scene/scripted-server.ts'

const reset = Math.floor(Date.now() / 1000) + 1800
const left = (remaining: number) => limitHeaders({ remaining, reset, resource: 'graphql' })
const timeout =
  'Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug. Please include `A:B` when reporting this issue.'
const failed = (error: object, data?: unknown) => ({ ...(data === undefined ? {} : { data }), errors: [error] })
const notFound = { type: 'NOT_FOUND', path: ['r1'], message: "Could not resolve to a Repository with the name 'o/r'." }
const saml = {
  type: 'FORBIDDEN',
  path: ['r1'],
  extensions: { saml_failure: true },
  message: 'Resource protected by organization SAML enforcement.',
}
const tooMany = {
  type: 'MAX_NODE_LIMIT_EXCEEDED',
  message: 'This query requests up to 1,010,000 possible nodes which exceeds the maximum limit of 500,000.',
}
const noBoundaries = {
  type: 'MISSING_PAGINATION_BOUNDARIES',
  path: ['user', 'repositories'],
  message: 'You must provide a `first` or `last` value to properly paginate the `repositories` connection.',
}
const limited = { type: 'RATE_LIMITED', message: 'API rate limit exceeded for user ID 1.' }

const answers: [what: string, reply: Reply, expected: Record<string, unknown>][] = [
  ['RATE_LIMITED', { headers: left(0), body: failed(limited) }, { type: 'primary limit', resetAt: new Date(reset * 1000) }],
  [
    'RATE_LIMIT, the newer name',
    {
      headers: left(0),
      body: failed({ type: 'RATE_LIMIT', code: 'graphql_rate_limit', message: 'API rate limit already exceeded for user ID 1.' }),
    },
    { type: 'primary limit', resetAt: new Date(reset * 1000) },
  ],
  [
    'the limit while four are said to remain',
    { headers: left(4), body: failed(limited) },
    { type: 'primary limit', budget: { remaining: 4 } },
  ],
  ['the newer name with new words', { body: failed({ type: 'RATE_LIMIT', message: 'Slow down' }) }, { type: 'primary limit' }],
  ['the older name with new words', { body: failed({ type: 'RATE_LIMITED', message: 'Slow down' }) }, { type: 'primary limit' }],
  [
    'the limit in words only',
    { headers: left(0), body: failed({ message: 'API rate limit already exceeded for user ID 1.' }) },
    { type: 'primary limit' },
  ],
  [
    'the last permitted call',
    { headers: left(0), body: { data: { a: 1 } } },
    { type: 'ok', data: { a: 1 }, budget: { remaining: 0 } },
  ],
  ['a timeout with 200', { body: failed({ message: timeout }, null) }, { type: 'too heavy', message: timeout }],
  ['a timeout with 502', { status: 502, body: failed({ message: timeout }, null) }, { type: 'too heavy', message: timeout }],
  ['a timeout in other words', { body: { message: "We couldn't respond to your request in time." } }, { type: 'too heavy' }],
  [
    '502 in HTML',
    { status: 502, headers: { 'content-type': 'text/html' }, body: '<html><h1>502' },
    { type: 'too heavy', message: 'status 502, not JSON' },
  ],
  ['504 with nothing', { status: 504, body: '' }, { type: 'too heavy' }],
  ['500', { status: 500, body: '' }, { type: 'server trouble' }],
  ['503', { status: 503, headers: { 'retry-after': '3' }, body: '' }, { type: 'server trouble', retryAfterMs: 3000 }],
  [
    'RESOURCE_LIMITS_EXCEEDED with half of the data',
    {
      body: failed(
        { type: 'RESOURCE_LIMITS_EXCEEDED', path: ['b'], message: 'Resource limits for this query exceeded.' },
        { a: 1, b: null },
      ),
    },
    { type: 'too heavy', message: 'Resource limits for this query exceeded.' },
  ],
  ['MAX_NODE_LIMIT_EXCEEDED', { body: failed(tooMany) }, { type: 'too heavy', message: tooMany.message }],
  [
    'EXCESSIVE_PAGINATION',
    { body: failed({ type: 'EXCESSIVE_PAGINATION', message: 'Requesting 1000 records' }) },
    { type: 'invalid' },
  ],
  [
    'missing boundaries, although there is data',
    { body: failed(noBoundaries, { user: { repositories: null } }) },
    { type: 'invalid', message: noBoundaries.message },
  ],
  [
    'a query that does not parse',
    { body: failed({ message: 'Parse error on "}"' }) },
    { type: 'invalid', message: 'Parse error on "}"' },
  ],
  [
    'NOT_FOUND beside data',
    { body: failed(notFound, { r0: { id: 1 }, r1: null }) },
    {
      type: 'ok',
      data: { r0: { id: 1 }, r1: null },
      errors: [{ type: 'NOT_FOUND', message: notFound.message, path: ['r1'] }],
      sso: undefined,
    },
  ],
  [
    'single sign-on beside data',
    { body: failed(saml, { r0: 1, r1: null }) },
    { type: 'ok', sso: 'partial', errors: [{ type: 'FORBIDDEN', path: ['r1'] }] },
  ],
  ['single sign-on without data', { body: failed(saml) }, { type: 'forbidden', kind: 'sso' }],
  [
    'single sign-on by its flag alone',
    { body: failed({ ...saml, message: 'No' }, { r1: null }) },
    { type: 'ok', sso: 'partial', errors: [{ message: 'No' }] },
  ],
  ['single sign-on in words alone', { body: failed({ ...saml, extensions: {} }, { r1: null }) }, { type: 'ok', sso: 'partial' }],
  ['NOT_FOUND without data', { body: failed(notFound, null) }, { type: 'gone' }],
  [
    'too few scopes',
    { body: failed({ type: 'INSUFFICIENT_SCOPES', message: 'Your token has not been granted the required scopes' }) },
    { type: 'forbidden', kind: 'permission' },
  ],
  [
    'bad credentials',
    { status: 401, headers: left(0), body: { message: 'Bad credentials' } },
    { type: 'unauthorized', budget: undefined },
  ],
  ['no token', { status: 401, body: { message: 'This endpoint requires you to be authenticated.' } }, { type: 'unauthorized' }],
  ['a 404 of the endpoint, which deletes nothing', { status: 404, body: { message: 'Not Found' } }, { type: 'malformed' }],
  ['a 400', { status: 400, body: { message: 'A query attribute must be specified and must be a string.' } }, { type: 'invalid' }],
  ['not JSON', { body: 'data' }, { type: 'malformed' }],
  ['neither data nor errors', { body: {} }, { type: 'malformed' }],
  ['data that is null without a reason', { body: { data: null } }, { type: 'malformed' }],
  [
    'errors that are no errors',
    { body: { data: {}, errors: [null, 1, 'a', {}, { path: [1, null, 'b'] }] } },
    { type: 'ok', errors: { length: 5, 4: { path: [1, 'b'] } } },
  ],
  ['errors that are no list', { body: { data: { a: 1 }, errors: { length: 7 } } }, { type: 'ok', errors: [] }],
]

test.each(answers)('[G-02] GraphQL: %s', async (_what, reply, expected) => {
  expect(await heardGraphql(reply)).toMatchObject({ status: reply.status ?? 200, ...expected })
})

test('[G-06] the price is the one that GitHub tells, else the one of the formula', async () => {
  const query =
    'query ($n: Int!) { viewer { repositories(first: $n) { nodes { issues(first: 100) { nodes { labels(first: 10) { totalCount } } } } } } }'
  const variables = { n: 4 }
  expect(await heardGraphql({ body: { data: { rateLimit: { cost: 3 } } } }, { query, variables })).toMatchObject({ cost: 3 })
  expect(await heardGraphql({ body: { data: { rateLimit: { cost: 0 } } } }, { query, variables })).toMatchObject({ cost: 0 })
  for (const body of [{ data: {} }, { data: { rateLimit: { cost: -1 } } }, { data: { rateLimit: { cost: 'much' } } }])
    expect(await heardGraphql({ body }, { query, variables })).toMatchObject({ cost: 4 })
  expect(await heardGraphql({ status: 502, body: '' }, { query, variables })).toMatchObject({ type: 'too heavy', cost: 4 })
  expect(await heardGraphql({ body: failed({ message: 'Parse error' }) }, { query: '{ a(' })).toMatchObject({
    type: 'invalid',
    cost: 1,
  })
})
