/** Changes that a page elsewhere asks for are refused; our own page and tools go on. */
import { expect, test } from 'vitest'
import { type Caller, localCaller } from './caller.ts'
import { judgeOrigin } from './origin.ts'
import { securityHeaders } from './security-headers.ts'

const session: Caller = { kind: 'session', role: 'admin', id: 'aaaaaaaaaa', name: 'ann' }
const key: Caller = { kind: 'key', role: 'admin', id: 'aaaaaaaaaa', name: 'deploy' }
const json = { host: 'sluice.example:7070', 'content-type': 'application/json' }
const judge = (headers: Record<string, string | string[] | undefined>, caller: Caller | undefined = session, method = 'POST') =>
  judgeOrigin({ method, headers, caller })?.code

test.for<[who: string, caller: Caller | undefined]>([
  ['a session', session],
  ['a caller on this machine', localCaller],
  ['a sign-in', undefined],
])('[O-09] %s may change things from our own page and from tools, as JSON', ([, caller]) => {
  const sent = (headers: object) => judgeOrigin({ method: 'POST', headers: { ...json, ...headers }, caller })
  expect(sent({ 'sec-fetch-site': 'same-origin', origin: 'http://sluice.example:7070' })).toBeUndefined()
  expect(sent({ 'sec-fetch-site': 'none' })).toBeUndefined()
  expect(sent({})).toBeUndefined()
  expect(sent({ 'content-type': 'Application/JSON; charset=utf-8' })).toBeUndefined()
  expect(sent({ 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403, code: 'CROSS_SITE' })
  expect(sent({ 'content-type': 'text/plain' })).toMatchObject({ status: 415, code: 'JSON_REQUIRED' })
})

test.for(['POST', 'PUT', 'PATCH', 'DELETE', 'post', 'SOMETHING'])('[O-09] %s from another site is refused', (method) => {
  expect(judge({ ...json, 'sec-fetch-site': 'cross-site' }, session, method)).toBe('CROSS_SITE')
})

test.for(['GET', 'HEAD', 'OPTIONS'])('[O-09] %s changes nothing, so it may come from anywhere', (method) => {
  expect(judge({ 'sec-fetch-site': 'cross-site' }, session, method)).toBeUndefined()
})

test.for<string | string[]>([
  'cross-site',
  'same-site',
  '',
  'Same-Origin',
  'same-origin, cross-site',
  ['same-origin', 'cross-site'],
])('[O-09] a Sec-Fetch-Site of %j is not ours', (site) => {
  expect(judge({ ...json, 'sec-fetch-site': site })).toBe('CROSS_SITE')
})

test('[O-09] where the browser says nothing of the site, the origin has to be our host', () => {
  expect(judge({ ...json, origin: 'http://sluice.example:7070' })).toBeUndefined()
  expect(judge({ ...json, host: 'Sluice.Example:7070', origin: 'http://sluice.example:7070' })).toBeUndefined()
  for (const origin of [
    'null',
    '',
    'http://evil.example',
    'http://sluice.example',
    'http://sluice.example:7071',
    'http://evil.example:7070',
  ])
    expect(judge({ ...json, origin })).toBe('CROSS_SITE')
  expect(judge({ 'content-type': 'application/json', origin: 'http://evil.example' })).toBe('CROSS_SITE')
})

test.for([
  undefined,
  '',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain; application/json',
  'application/jsonp',
  'application/json, text/plain',
])('[O-09] a change with the content type %s is refused', (contentType) => {
  expect(judge({ ...json, 'content-type': contentType })).toBe('JSON_REQUIRED')
})

test('[O-09] a caller with a key is no browser', () => {
  expect(judge({ 'sec-fetch-site': 'cross-site' }, key)).toBeUndefined()
})

test('[O-09] pages run nothing from elsewhere and are framed by nobody', () => {
  const policy = securityHeaders['content-security-policy']?.split('; ') ?? []
  expect(policy).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'self'",
    ]),
  )
  expect(policy.join()).not.toMatch(/unsafe|\*|https?:|data:/)
  expect(securityHeaders).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  })
})
