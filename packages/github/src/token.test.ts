import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createGithub, type RestCall } from './github.ts'
import { fingerprint } from './index.ts'
import { type Act, scriptedServer } from './scene/scripted-server.ts'

const secret = `ghp_${'s3cr3t'.repeat(6)}`
const token = { reveal: () => secret }

/** A server, or a proxy before it, that says back everything it hears. */
const echo =
  (status: number): Act =>
  (request, response, url) => {
    const said = String(request.headers.authorization)
    response.writeHead(status, { location: `${url}/${said}`, link: `<${url}/a?${said}>; rel="next"`, etag: said })
    response.end(
      JSON.stringify({ message: said, errors: [{ message: said, type: said, path: [said] }], block: { reason: said }, data: {} }),
    )
  }
const shown = (value: unknown) =>
  inspect(value, { depth: 20, showHidden: true }) + JSON.stringify(value) + String(value) + String((value as Error).stack)

test.each([301, 400, 401, 403, 404, 409, 410, 422, 429, 451, 500, 502])(
  '[G-01] a server that echoes the request with %i cannot make an answer show the token',
  async (status) => {
    const { url } = await scriptedServer(echo(status))
    const github = createGithub({ baseUrl: url })
    const answers = [await github.rest({ token, path: '/a' }), await github.graphql({ token, query: '{ a }' })]
    for (const answer of answers) expect(shown(answer)).not.toContain(secret)
  },
)

test('[G-01] links, ETags and errors of a good answer are kept clean as well', async () => {
  const { url } = await scriptedServer(echo(200))
  const github = createGithub({ baseUrl: url })
  const { data, ...rest } = { data: 0, ...(await github.rest({ token, path: '/a' })) }
  expect(data).toMatchObject({ message: `Bearer ${secret}` })
  expect(rest).toMatchObject({ type: 'ok', etag: 'Bearer [token]', servedAt: expect.any(Date) })
  expect(shown(rest)).not.toContain(secret)
  expect(shown(await github.graphql({ token, query: '{ a }' }))).not.toContain(secret)
})

test('[G-01] trouble, time-outs and aborts do not show the token', async () => {
  const { url } = await scriptedServer(() => {})
  const slow = createGithub({ baseUrl: url, timeoutMs: 20 })
  const nowhere = createGithub({ baseUrl: `http://${'a'.repeat(64)}.invalid` })
  const stop = AbortSignal.abort()
  const outcomes = await Promise.allSettled([
    slow.rest({ token, path: '/a' }),
    nowhere.graphql({ token, query: '{ a }' }),
    slow.rest({ token, path: '/a', signal: stop }),
    slow.rest({ token, path: 'a' }),
    slow.rest({ token, path: 'http://elsewhere.invalid/a' }),
    slow.graphql({ token, query: '{ a }', variables: { a: 1n } }),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
    'rejected',
  ])
  for (const outcome of outcomes) expect(shown(outcome)).not.toContain(secret)
})

test.each(['', ' ', `${secret}\n`, `${secret}\r\nx: y`, `${secret}ä`, `${secret} b`, 'x'.repeat(1001)])(
  '[G-01] the token %j is refused before anything is sent, by an error that does not show it',
  async (text) => {
    const server = await scriptedServer({})
    const call: RestCall = { token: { reveal: () => text }, path: '/a' }
    const error: unknown = await createGithub({ baseUrl: server.url })
      .rest(call)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'GithubError', code: 'GITHUB_BAD_TOKEN' })
    if (text.trim() !== '') expect(shown(error)).not.toContain(text.slice(0, 40))
    expect(server.asked).toEqual([])
  },
)

test('[G-01] the client itself holds no token', async () => {
  const { url } = await scriptedServer({})
  const github = createGithub({ baseUrl: url })
  await github.rest({ token, path: '/a' })
  expect(shown(github)).not.toContain(secret)
})

test('[G-04] a fingerprint tells tokens apart, is the same every time and does not show the token', () => {
  expect(fingerprint(token)).toMatch(/^[0-9a-f]{16}$/)
  expect(fingerprint(token)).toBe(fingerprint({ reveal: () => secret }))
  expect(fingerprint({ reveal: () => `${secret}1` })).not.toBe(fingerprint(token))
})
