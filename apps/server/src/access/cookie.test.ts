/** Cookies, read and written. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cookieName, readCookie, writeCookie } from './cookie.ts'

test('[O-09] a cookie is kept from scripts, from other sites, and, with https, from plain connections', () => {
  expect(writeCookie('abc', { secure: false, maxAgeSeconds: 60 })).toBe(
    'sluice=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Strict',
  )
  expect(writeCookie('abc', { secure: true, maxAgeSeconds: 60.9 })).toBe(
    '__Host-sluice=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure',
  )
  expect(writeCookie('', { secure: false, maxAgeSeconds: -1 })).toContain('sluice=; Path=/; Max-Age=0;')
})

test('[O-09] a token is read as it was written, among others', () => {
  const token = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64url'))
  const other = fc.string().filter((text) => !/[;=]/.test(text) && !cookieName(true).includes(text.trim()))
  fc.assert(
    fc.property(token, fc.boolean(), other, other, (value, secure, before, after) => {
      const pair = writeCookie(value, { secure, maxAgeSeconds: 1 }).split(';')[0]
      expect(readCookie(`${before}=1; ${pair};${after}=2`, cookieName(secure))).toBe(value)
    }),
  )
})

test.for<[string | string[] | undefined, string | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['sluice', undefined],
  ['other=1; xsluice=2; sluicex=3', undefined],
  ['SLUICE=1', undefined],
  ['sluice=', ''],
  ['sluice=a=b', 'a=b'],
  [' sluice = a ;', 'a'],
  ['sluice=first; sluice=second', 'first'],
  [['other=1', 'sluice=2'], '2'],
  [';;;=;=x;sluice=1', '1'],
])('[O-09] the header %j has the token %j', ([header, token]) => {
  expect(readCookie(header, 'sluice')).toBe(token)
})

test.for(['a;b', 'a\r\nSet-Cookie: x', 'a b', 'a"b', 'ä', 'a,b'])('[O-09] %j is never written into a header', (value) => {
  expect(() => writeCookie(value, { secure: true, maxAgeSeconds: 1 })).toThrow(TypeError)
})
