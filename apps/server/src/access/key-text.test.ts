/** What a key looks like. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digest, makeKeyParts, matches, readKey, writeKey } from './key-text.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((all) => Buffer.from(all))

test('[O-09] a key is read as it was written, whatever its random bytes are', () => {
  fc.assert(
    fc.property(bytes(10), bytes(32), (id, secret) => {
      const parts = makeKeyParts((wanted) => (wanted === 10 ? id : secret))
      expect(readKey(writeKey(parts))).toEqual(parts)
      expect(matches(parts.secret, digest(parts.secret))).toBe(true)
    }),
  )
})

test('[O-09] a key differs from every other in id and secret', () => {
  const made = Array.from({ length: 1_000 }, () => makeKeyParts())
  expect(new Set(made.map(({ id }) => id)).size).toBe(1_000)
  expect(new Set(made.map(({ secret }) => secret)).size).toBe(1_000)
})

test('[O-09] a key in which any one character is another does not match', () => {
  const { id, secret } = makeKeyParts()
  for (let at = 0; at < secret.length; at++) {
    const other = secret.slice(0, at) + (secret[at] === 'A' ? 'B' : 'A') + secret.slice(at + 1)
    expect(matches(readKey(writeKey({ id, secret: other }))?.secret ?? '', digest(secret))).toBe(false)
  }
})

test.for([
  '',
  'sluice',
  'sluice__',
  `sluice_aaaaaaaaaa_${'x'.repeat(42)}`,
  `sluice_aaaaaaaaaa_${'x'.repeat(44)}`,
  `sluice_AAAAAAAAAA_${'x'.repeat(43)}`,
  `sluice_aaaaaaaaa_${'x'.repeat(43)}`,
  `sluice_aaaaaaaaaa_${'x'.repeat(43)}\n`,
  ` sluice_aaaaaaaaaa_${'x'.repeat(43)}`,
  `sluice_aaaaaaaaaa_${'ä'.repeat(43)}`,
  `other_aaaaaaaaaa_${'x'.repeat(43)}`,
])('[O-09] %j is no key', (text) => {
  expect(readKey(text)).toBeUndefined()
})

test('[O-09] nothing matches a key that is not there, not even a hash of zeros', () => {
  expect(matches('secret', undefined)).toBe(false)
})
