import { describe, expect, test } from 'vitest'
import { createGithub } from '../github.ts'
import { heardGraphql, heardRest, limitHeaders, type Reply, scriptedServer, token } from '../scene/scripted-server.ts'

const reset = Math.floor(Date.now() / 1000) + 1800

describe('moved', () => {
  const moved = (url: string) => ({
    message: 'Moved Permanently',
    url,
    documentation_url: 'https://docs.github.com/v3/#http-redirects',
  })

  test.each([301, 302, 307, 308])(
    '[G-02] %i tells the new place and its id, is not followed, and costs a unit',
    async (status) => {
      const server = await scriptedServer((_request, response, url) => {
        response.writeHead(status, {
          location: `${url}/repositories/515436299/commits?page=2`,
          ...limitHeaders({ remaining: 4875, reset }),
        })
        response.end(JSON.stringify(moved(`${url}/repositories/515436299`)))
      })
      const answer = await createGithub({ baseUrl: server.url }).rest({ token, path: '/repos/octo/old/commits' })
      expect(answer).toMatchObject({ type: 'moved', status, repositoryId: 515_436_299, cost: 1, budget: { remaining: 4875 } })
      expect(answer).toHaveProperty('to', `${server.url}/repositories/515436299/commits?page=2`)
      expect(server.asked).toHaveLength(1)
    },
  )

  test('[G-02] the body tells the place when the header is missing, and a relative place is made whole', async () => {
    const inBody = await heardRest({ status: 301, body: moved('https://api.github.com/repositories/7') })
    expect(inBody).toMatchObject({ type: 'moved', to: 'https://api.github.com/repositories/7', repositoryId: 7 })
    const relative = await heardRest({ status: 302, headers: { location: '/somewhere/else' } })
    expect(relative).toMatchObject({ type: 'moved', to: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/somewhere\/else$/) })
    expect(relative).toHaveProperty('repositoryId', undefined)
  })

  test.each(['', 'http://[', 'javascript:alert(1)'])('[G-02] a move to %j is malformed', async (location) => {
    expect(await heardRest({ status: 301, headers: { location }, body: 'gone fishing' })).toMatchObject({ type: 'malformed' })
  })
})

describe('conditional calls', () => {
  test('[G-04] the ETag is sent, and a 304 costs nothing', async () => {
    const server = await scriptedServer({
      status: 304,
      headers: { etag: 'W/"a"', 'x-poll-interval': '60', ...limitHeaders({ remaining: 7, reset }) },
    })
    const answer = await createGithub({ baseUrl: server.url }).rest({ token, path: '/users/octo/events', etag: 'W/"a"' })
    expect(answer).toMatchObject({ type: 'not modified', cost: 0, budget: { remaining: 7 }, pollIntervalMs: 60_000 })
    expect(server.asked[0]?.headers['if-none-match']).toBe('W/"a"')
  })

  test('[G-04] a 304 that nobody asked for has no data behind it', async () => {
    expect(await heardRest({ status: 304 })).toMatchObject({ type: 'malformed' })
    expect(await heardRest({ status: 304 }, { etag: 'a\r\nb: c' })).toMatchObject({ type: 'malformed' })
    expect(await heardGraphql({ status: 304 })).toMatchObject({ type: 'malformed' })
  })

  test('[G-04] the ETag and Last-Modified of an answer are handed on as they are', async () => {
    const headers = { etag: '"abc"', 'last-modified': 'Sun, 01 Mar 2026 12:00:00 GMT' }
    expect(await heardRest({ headers, body: {} })).toMatchObject({
      type: 'ok',
      etag: '"abc"',
      lastModified: headers['last-modified'],
    })
    expect(await heardRest({ body: {} })).toMatchObject({ type: 'ok', etag: undefined, lastModified: undefined })
  })

  test('[G-01] every call says the same Accept, version and agent; the interval between polls can rise', async () => {
    const server = await scriptedServer({ headers: { 'x-poll-interval': '300' } })
    const github = createGithub({ baseUrl: server.url })
    expect(await github.rest({ token, path: '/a', query: { page: 2, since: undefined, q: 'a b' } })).toMatchObject({
      pollIntervalMs: 300_000,
    })
    await github.graphql({ token, query: '{ a }', variables: { b: 1 } })
    expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /a?page=2&q=a+b', 'POST /graphql'])
    expect(JSON.parse(server.asked[1]?.body ?? '')).toEqual({ query: '{ a }', variables: { b: 1 } })
    for (const { headers } of server.asked)
      expect(headers).toMatchObject({
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token.reveal()}`,
        'user-agent': 'sluice/0.1.0',
        'x-github-api-version': '2022-11-28',
      })
  })
})

const sso =
  'Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.'
const ip =
  'Although you appear to have the correct authorization credentials, the `octo` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.'
const agent =
  '<html><body>Request forbidden by administrative rules. Please make sure your request has a User-Agent header (https://docs.github.com/en/rest).</body></html>'
const deep =
  'Pagination with the page parameter is not supported for large datasets, please use cursor based pagination (after/before)'
const deepEvents =
  'In order to keep the API fast for everyone, pagination is limited for this resource. Check the rel=last link relation in the Link response header to see how far back you can traverse.'
const say = (message: string) => ({ message, documentation_url: 'https://docs.github.com/rest', status: '4xx' })

const statuses: [what: string, reply: Reply, expected: Record<string, unknown>][] = [
  ['401 bad credentials', { status: 401, body: say('Bad credentials') }, { type: 'unauthorized', message: 'Bad credentials' }],
  ['401 in HTML', { status: 401, body: '<html>' }, { type: 'unauthorized', message: 'status 401, not JSON' }],
  ['403 single sign-on by words', { status: 403, body: say(sso) }, { type: 'forbidden', kind: 'sso' }],
  [
    '403 single sign-on by header',
    { status: 403, headers: { 'x-github-sso': 'required; url=https://a' }, body: say('No') },
    { type: 'forbidden', kind: 'sso' },
  ],
  ['403 IP allow list', { status: 403, body: say(ip) }, { type: 'forbidden', kind: 'ip' }],
  [
    '403 token without the right',
    { status: 403, body: say('Resource not accessible by personal access token') },
    { type: 'forbidden', kind: 'permission' },
  ],
  [
    '403 app without the right',
    { status: 403, body: say('Resource not accessible by integration') },
    { type: 'forbidden', kind: 'permission' },
  ],
  [
    '403 admin rights',
    { status: 403, body: say('Must have admin rights to Repository.') },
    { type: 'forbidden', kind: 'permission' },
  ],
  [
    '403 after too many 401s',
    { status: 403, body: say('Maximum number of login attempts exceeded. Please try again later.') },
    { type: 'forbidden', kind: 'login-attempts' },
  ],
  [
    '403 without user agent, in HTML',
    { status: 403, headers: { 'content-type': 'text/html' }, body: agent },
    { type: 'forbidden', kind: 'user-agent' },
  ],
  ['403 of no known kind', { status: 403, body: say('Sorry.') }, { type: 'forbidden', kind: 'other', message: 'Sorry.' }],
  [
    '403 blocked by the staff',
    { status: 403, body: { message: 'Repository access blocked', block: { reason: 'tos' } } },
    { type: 'blocked', reason: 'tos' },
  ],
  [
    '451',
    { status: 451, body: { message: 'Repository access blocked', block: { reason: 'dmca' } } },
    { type: 'blocked', reason: 'dmca' },
  ],
  ['451 without a reason', { status: 451, body: '' }, { type: 'blocked', reason: 'unknown' }],
  ['404', { status: 404, body: say('Not Found') }, { type: 'gone' }],
  ['404 in HTML, which is not GitHub', { status: 404, body: '<html>nginx' }, { type: 'malformed' }],
  ['410 deleted issue', { status: 410, body: say('This issue was deleted') }, { type: 'gone' }],
  ['410 disabled issues', { status: 410, body: say('Issues are disabled for this repo') }, { type: 'disabled', what: 'issues' }],
  [
    '410 disabled, in other words',
    { status: 410, body: say('Issues has been disabled in this repository.') },
    { type: 'disabled', what: 'issues' },
  ],
  [
    '410 API version after its end',
    { status: 410, body: say('The API version is no longer supported') },
    { type: 'invalid', deepPage: false },
  ],
  ['409 empty repository', { status: 409, body: say('Git Repository is empty.') }, { type: 'empty' }],
  ['409 of another kind', { status: 409, body: say('Git Repository is unavailable.') }, { type: 'server trouble' }],
  ['422 page too deep', { status: 422, body: say(deep) }, { type: 'invalid', deepPage: true }],
  ['422 events too deep', { status: 422, body: say(deepEvents) }, { type: 'invalid', deepPage: true }],
  [
    '422 validation',
    { status: 422, body: { ...say('Validation Failed'), errors: [{ field: 'q', code: 'missing' }] } },
    { type: 'invalid', deepPage: false },
  ],
  [
    '422 no such commit',
    { status: 422, body: say('No commit found for SHA: x') },
    { type: 'invalid', message: 'No commit found for SHA: x' },
  ],
  ['400', { status: 400, body: say('Problems parsing JSON') }, { type: 'invalid', deepPage: false }],
  ['202', { status: 202, body: {} }, { type: 'computing' }],
  ['204', { status: 204 }, { type: 'empty' }],
  [
    '500',
    { status: 500, body: say('Server Error') },
    { type: 'server trouble', message: 'Server Error', retryAfterMs: undefined },
  ],
  [
    '502 in HTML',
    { status: 502, body: '<html><h1>502 Bad Gateway' },
    { type: 'server trouble', message: 'status 502, not JSON' },
  ],
  [
    '503 with Retry-After',
    { status: 503, headers: { 'retry-after': '7' }, body: '' },
    { type: 'server trouble', retryAfterMs: 7000 },
  ],
  ['504', { status: 504, body: '' }, { type: 'server trouble' }],
  ['200 in HTML', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }, { type: 'malformed' }],
  ['200 with nothing', { status: 200, body: '' }, { type: 'malformed' }],
  ['200 with half a text', { status: 200, body: '[{"id": 1}, {"id"' }, { type: 'malformed' }],
  ['a status that nobody knows', { status: 299, body: '[]' }, { type: 'ok', data: [] }],
  ['a status beyond all', { status: 777, body: '[]' }, { type: 'malformed' }],
]

test.each(statuses)('[G-02] REST: %s', async (_what, reply, expected) => {
  expect(await heardRest(reply)).toMatchObject({ status: reply.status, cost: 1, ...expected })
})

test('[G-02] a list that lacks what single sign-on protects says so', async () => {
  const headers = { 'x-github-sso': 'partial-results; organizations=21955855,20582480' }
  expect(await heardRest({ headers, body: [] })).toMatchObject({ type: 'ok', sso: 'partial' })
  expect(await heardRest({ body: [] })).toMatchObject({ type: 'ok', sso: undefined })
})

test('[G-02] a message is one short line without characters that a terminal obeys', async () => {
  const answer = await heardRest({ status: 422, body: { message: `a\u001b[2J\r\nb\u202e${'c'.repeat(100_000)}` } })
  expect(answer).toHaveProperty('message', expect.stringMatching(/^a \[2J b c{290,}…$/u))
  expect((answer as { message: string }).message).toHaveLength(300)
})
