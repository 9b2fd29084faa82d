import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createGithub } from '../github.ts'
import { heardRest, scriptedServer, token } from '../scene/scripted-server.ts'
import { readLinks } from './links.ts'

const base = 'https://api.github.com/repositories/515435940/issues'

test.each([
  [null, {}],
  ['', {}],
  [
    `<${base}?per_page=3&page=2>; rel="next", <${base}?per_page=3&page=5>; rel="last"`,
    { next: `${base}?per_page=3&page=2`, last: `${base}?per_page=3&page=5` },
  ],
  [`<${base}?after=Y3Vyc29yOnYyOpK5,a;b&page=2>;rel=next`, { next: `${base}?after=Y3Vyc29yOnYyOpK5,a;b&page=2` }],
  ['<a>; rel="next last"', { next: 'a', last: 'a' }],
  ['<a>; title="x, <b>; rel=\'next\'"; rel="prev", <c>; REL="Next"', { prev: 'a', next: 'c' }],
  ['<a>; rel="next", <b>; rel="next"', { next: 'a' }],
  ['<a>; rel="first"; rel="next"', { first: 'a' }],
  ['<a>, <b>; rel=next', { next: 'b' }],
  ['<a>; ; rel=next', { next: 'a' }],
  ['<a; rel="next"', {}],
  ['<a>; rel="next', {}],
  ['rel="next"', {}],
  ['<a>; rel="__proto__"', Object.fromEntries([['__proto__', 'a']])],
])('[G-05] the links of %j', (header, expected) => expect(readLinks(header)).toEqual(expected))

test('[G-05] any text is read in time that grows with its length, and without an error', () => {
  const pieces = fc.constantFrom('<', '>', ';', ',', '"', ' ', '=', 'rel', 'next', 'http://a/b', '\\', 'ä')
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => void readLinks(parts.join(''))),
    { numRuns: 500 },
  )
  for (const evil of ['<', '<a>;', '<a>; rel="', '<a> ', ';'.repeat(3), '<a>; a=']) readLinks(evil.repeat(100_000 / evil.length))
}, 10_000)

test('[G-05] whatever links are written, the same links are read', () => {
  const rel = fc.stringMatching(/^[a-z]{1,10}$/)
  const target = fc
    .array(fc.constantFrom('a', '/', '?', '&', ',', ';', '=', '%20', '"', "'", '; rel="next"'))
    .map((parts) => `https://a/${parts.join('')}`)
  fc.assert(
    fc.property(fc.dictionary(rel, target, { maxKeys: 5 }), (links) => {
      const header = Object.entries(links).map(([key, url]) => `<${url}>; rel="${key}"`)
      expect(readLinks(header.join(', '))).toEqual({ ...links })
    }),
  )
})

describe('the next page', () => {
  test('[G-05] is followed verbatim, cursor and all, with nothing added', async () => {
    const next = (url: string) => `${url}/repositories/1/issues?after=Y3Vyc29y%3D%3D+a%20b&per_page=100&page=2&page=2`
    const server = await scriptedServer(
      (_request, response, url) => response.writeHead(200, { link: `<${next(url)}>; rel="next"` }).end('[1]'),
      { body: [2] },
    )
    const github = createGithub({ baseUrl: server.url })
    const first = await github.rest({ token, path: '/repositories/1/issues', query: { per_page: 100 } })
    expect(first).toMatchObject({ type: 'ok', next: next(server.url) })
    const second = await github.rest({ token, path: first.type === 'ok' ? (first.next ?? '') : '' })
    expect(second).toMatchObject({ type: 'ok', data: [2], next: undefined })
    expect(server.asked[1]?.path).toBe(next(''))
  })

  test.each([
    'https://evil.invalid/a',
    'https://api.github.com/a',
    '//evil.invalid/a',
    'http://[',
    'ftp://127.0.0.1/a',
    'http://127.0.0.1:1/a',
  ])('[G-05] at %s is a lie, and the page is malformed', async (link) => {
    expect(await heardRest({ headers: { link: `<${link}>; rel="next"` }, body: [] })).toMatchObject({
      type: 'malformed',
      message: 'the link to the next page leads to another host',
    })
  })

  test('[G-05] is handed on letter by letter, even when there is a tidier way to write it', async () => {
    const link = (url: string) => `${url.replace('http', 'HTTP')}/a/../b?q=a|b&q='`
    const server = await scriptedServer((_request, response, url) =>
      response.writeHead(200, { link: `<${link(url)}>; rel="next"` }).end('[]'),
    )
    const answer = await createGithub({ baseUrl: server.url }).rest({ token, path: '/a' })
    expect(answer).toMatchObject({ type: 'ok', next: link(server.url) })
  })

  test('[G-05] that is this page is a lie as well', async () => {
    const path = '/repositories/1/issues?page=2'
    const answer = await heardRest(
      (_request, response, url) => response.writeHead(200, { link: `<${url}${path}>; rel="next"` }).end('[]'),
      { path },
    )
    expect(answer).toMatchObject({ type: 'malformed', message: 'the link to the next page leads to the same page' })
  })

  test('[G-05] may be written relative to this page', async () => {
    const answer = await heardRest({ headers: { link: '</a?page=2>; rel="next"' }, body: [] })
    expect(answer).toMatchObject({ type: 'ok', next: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/a\?page=2$/) })
  })

  test.each(['https://evil.invalid/a', 'http://user:pass@evil.invalid/', 'HTTP://EVIL.invalid'])(
    '[G-05] at %s, given as a path, is refused without a call',
    async (path) => {
      const server = await scriptedServer({})
      const answer = await createGithub({ baseUrl: server.url }).rest({ token, path })
      expect(answer).toMatchObject({ type: 'malformed', status: 0, cost: 0 })
      expect(server.asked).toEqual([])
    },
  )

  test.each(['//evil.invalid/a', '/@evil.invalid', '/\\evil.invalid', '/../../a', '/a#b'])(
    '[G-05] the path %s stays on the host',
    async (path) => {
      const server = await scriptedServer({})
      await createGithub({ baseUrl: server.url }).rest({ token, path })
      expect(server.asked).toHaveLength(1)
    },
  )
})
