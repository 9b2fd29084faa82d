import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createGithub, GithubError, githubErrors } from './index.ts'
import { type GithubOptions, readOptions, version } from './options.ts'
import { scriptedServer, token } from './scene/scripted-server.ts'

test.each([
  [undefined, 'https://api.github.com', 'https://api.github.com/graphql'],
  ['https://api.github.com/', 'https://api.github.com', 'https://api.github.com/graphql'],
  ['https://git.example.com/api/v3', 'https://git.example.com/api/v3', 'https://git.example.com/api/graphql'],
  ['https://git.example.com/api/v3/', 'https://git.example.com/api/v3', 'https://git.example.com/api/graphql'],
  ['http://127.0.0.1:4000', 'http://127.0.0.1:4000', 'http://127.0.0.1:4000/graphql'],
])('[G-01] the base %s has REST under %s and GraphQL at %s', (given, baseUrl, graphqlUrl) => {
  expect(readOptions(given === undefined ? {} : { baseUrl: given })).toMatchObject({ baseUrl, graphqlUrl })
})

test('[G-01] behind a base with a path, paths are put after it, and links are taken as they are', async () => {
  const server = await scriptedServer({ body: [] })
  const github = createGithub({ baseUrl: `${server.url}/api/v3`, graphqlUrl: `${server.url}/elsewhere` })
  await github.rest({ token, path: '/user' })
  await github.rest({ token, path: `${server.url}/api/v3/user?page=2` })
  await github.graphql({ token, query: '{ a }' })
  expect(server.asked.map(({ path }) => path)).toEqual(['/api/v3/user', '/api/v3/user?page=2', '/elsewhere'])
})

test.each([
  [{ baseUrl: 'api.github.com' }, 'baseUrl'],
  [{ baseUrl: 'ftp://a' }, 'baseUrl'],
  [{ baseUrl: 'https://user:pass@a' }, 'baseUrl'],
  [{ baseUrl: 'https://a?b' }, 'baseUrl'],
  [{ graphqlUrl: '/graphql' }, 'graphqlUrl'],
  [{ userAgent: '' }, 'userAgent'],
  [{ userAgent: 'a\r\nb: c' }, 'userAgent'],
  [{ timeoutMs: 0 }, 'timeoutMs'],
  [{ timeoutMs: 2 ** 31 }, 'timeoutMs'],
  [{ bodyBytesMax: 1.5 }, 'bodyBytesMax'],
] as [GithubOptions, string][])('[G-01] the options %j are refused', (options, field) => {
  expect(() => createGithub(options)).toThrow(
    expect.objectContaining({ code: 'GITHUB_BAD_OPTION', message: expect.stringContaining(field) }),
  )
})

test('[G-01] wrong use is told before anything is sent', async () => {
  const server = await scriptedServer({})
  const github = createGithub({ baseUrl: server.url })
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  for (const call of [
    github.rest({ token, path: 'user' }),
    github.rest({ token, path: '' }),
    github.rest({ token, path: 'javascript:alert(1)' }),
    github.rest({ token, path: 'https://' }),
    github.graphql({ token, query: '{ a }', variables: cycle }),
  ])
    await expect(call).rejects.toMatchObject({ code: 'GITHUB_BAD_CALL' })
  expect(server.asked).toEqual([])
})

test('[G-01] the agent has the version of the package', () => {
  const { version: written } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect(version).toBe(written)
})

test('an error fills every brace of its row', () => {
  for (const code of Object.keys(githubErrors) as (keyof typeof githubErrors)[])
    expect(new GithubError(code, { field: 'a', problem: 'b', place: 'c' }).message).not.toMatch(/[{}]/)
})
