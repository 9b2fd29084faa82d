import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createGithub } from './github.ts'
import { type Act, scriptedServer, token } from './scene/scripted-server.ts'

/**
 * Real answers of api.github.com, recorded in 2022 by Octokit. Two things are changed: links lead to the replaying server, and
 * the reset, which Octokit's normalization wrote in milliseconds, is in seconds again.
 */
interface Recording {
  readonly scope: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly response: unknown
  readonly headers: Record<string, string>
  readonly responseIsBinary: boolean
}

const require = createRequire(import.meta.url)
const folder = join(dirname(require.resolve('@octokit/fixtures/package.json')), 'scenarios', 'api.github.com')
const scenarios = readdirSync(folder).map((name) => {
  const all = JSON.parse(readFileSync(join(folder, name, 'normalized-fixture.json'), 'utf8')) as Recording[]
  return { name, gets: all.filter(({ method }) => method.toLowerCase() === 'get') }
})
const recordings = scenarios.flatMap(({ name, gets }) =>
  gets.map((recording) => ({ name: `${name} ${recording.path}`, recording })),
)
const home = 'https://api.github.com'
const bytesOf = ({ response, responseIsBinary }: Recording): Uint8Array | string =>
  typeof response === 'string' ? (responseIsBinary ? Buffer.from(response, 'hex') : response) : JSON.stringify(response)

const replay =
  (recording: Recording): Act =>
  (_request, response, url) => {
    const {
      'content-length': _length,
      'content-encoding': _coding,
      'transfer-encoding': _transfer,
      ...headers
    } = recording.headers
    for (const [key, value] of Object.entries(headers)) response.setHeader(key, String(value).replaceAll(home, url))
    if (recording.headers['x-ratelimit-reset'])
      response.setHeader('x-ratelimit-reset', Number(recording.headers['x-ratelimit-reset']) / 1000)
    response.writeHead(recording.status).end(bytesOf(recording))
  }

/** What the recorded status demands. The client asks for JSON only, so a file's raw text is not an answer to it. */
function demanded({ status, response, headers }: Recording, url: string): object {
  if (status === 301 || status === 302) return { type: 'moved', to: headers['location']?.replace(home, url) }
  if (status === 404) return { type: 'gone' }
  return typeof response === 'string' ? { type: 'malformed' } : { type: 'ok', data: response }
}

test('the recordings are there', () => {
  expect(recordings.length).toBeGreaterThan(25)
  expect(new Set(recordings.map(({ recording }) => recording.status))).toEqual(new Set([200, 301, 302, 404]))
})

test.each(recordings.map(({ name, recording }) => [name, recording] as const))(
  '[G-02] the recording %s is read as its status demands',
  async (_name, recording) => {
    const server = await scriptedServer(replay(recording))
    const now = () => Date.parse(recording.headers['date'] ?? '')
    const answer = await createGithub({ baseUrl: server.url, now }).rest({ token, path: recording.path })
    expect(answer).toMatchObject({ status: recording.status, cost: 1, ...demanded(recording, server.url) })
    expect(server.asked.map(({ path }) => path)).toEqual([recording.path])
    if (answer.type === 'ok' && recording.headers['etag']) expect(answer.etag).toBe(recording.headers['etag'])
    const remaining = recording.headers['x-ratelimit-remaining']
    if (remaining !== undefined)
      expect(answer.budget).toMatchObject({ remaining: Number(remaining), resource: recording.headers['x-ratelimit-resource'] })
  },
)

test('[G-05] the recorded pages are walked to their end by the links alone', async () => {
  const pages = scenarios.find(({ name }) => name === 'paginate-issues')?.gets ?? []
  const server = await scriptedServer(...pages.map(replay))
  const github = createGithub({ baseUrl: server.url })
  const found: unknown[] = []
  for (let path = pages[0]?.path; path !== undefined; ) {
    const answer = await github.rest<unknown[]>({ token, path })
    if (answer.type !== 'ok') throw new Error(answer.type)
    found.push(...answer.data)
    path = answer.next
  }
  expect(server.asked.map(({ path }) => path)).toEqual(pages.map(({ path }) => path))
  expect(found).toEqual(pages.flatMap(({ response }) => response))
})

test('[G-02] the recorded rename leads to the repository by its id, for one unit each', async () => {
  const [moved, there] = scenarios.find(({ name }) => name === 'rename-repository')?.gets ?? []
  const server = await scriptedServer(replay(moved!), replay(there!))
  const github = createGithub({ baseUrl: server.url })
  const answer = await github.rest({ token, path: moved!.path })
  expect(answer).toMatchObject({ type: 'moved', repositoryId: (there!.response as { id: number }).id })
  if (answer.type === 'moved')
    expect(await github.rest({ token, path: answer.to })).toMatchObject({ type: 'ok', data: there!.response })
})
