/**
 * What a key looks like: `sluice_<id>_<secret>`. The id is for people and for finding the row; the secret is 32 random bytes.
 *
 * Stored is the SHA-256 of the secret. A slow hash protects what people think up; nobody finds 256 random bits by trying, so a fast one is as safe and
 * costs a call nothing. The comparison takes the same time wherever the two differ.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const idChars = 10
const secretBytes = 32
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** Random bytes, so that a test can choose them. */
export type Random = (bytes: number) => Buffer

export interface KeyParts {
  readonly id: string
  readonly secret: string
}

export function makeKeyParts(random: Random = randomBytes): KeyParts {
  const id = [...random(idChars)].map((byte) => alphabet[byte % alphabet.length]).join('')
  return { id, secret: makeToken(random) }
}

export function writeKey({ id, secret }: KeyParts): string {
  return `sluice_${id}_${secret}`
}

export function readKey(text: string): KeyParts | undefined {
  const parts = /^sluice_(?<id>[a-z2-7]{10})_(?<secret>[\w-]{43})$/.exec(text)?.groups
  return parts?.['id'] && parts['secret'] ? { id: parts['id'], secret: parts['secret'] } : undefined
}

export function makeToken(random: Random = randomBytes): string {
  return random(secretBytes).toString('base64url')
}

export function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

const nobody = Buffer.alloc(secretBytes)

/** Also takes its time where there is nothing to compare with. */
export function matches(secret: string, stored: Buffer | undefined): boolean {
  return timingSafeEqual(digest(secret), stored ?? nobody) && stored !== undefined
}
