/**
 * GitHub computes an ETag over the answer's text and over the Authorization and Accept headers of the request: an ETag that was
 * given to one token answers 200, at full price, to every other. Whoever stores an ETag stores this beside it, and sends the
 * ETag only while the fingerprint is the same: a new token, or a version of Sluice with another Accept, then drops it by itself.
 */
import { createHash } from 'node:crypto'
import { accept, apiVersion } from '../call/headers.ts'
import { openToken, type Token } from '../token.ts'

export function fingerprint(token: Token): string {
  return createHash('sha256')
    .update(['etag', accept, apiVersion, openToken(token)].join('\n'))
    .digest('hex')
    .slice(0, 16)
}
