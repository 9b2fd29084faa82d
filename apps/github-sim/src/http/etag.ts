/**
 * Conditional requests. An ETag is the hash of Accept, Authorization and body, so it serves one token and one Accept only;
 * where a Last-Modified exists, it serves everybody.
 */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

export function etagOf(headers: IncomingHttpHeaders, body: string): string {
  const hash = createHash('sha256')
  if (headers.accept !== undefined) hash.update(`${headers.accept}:`)
  if (headers.authorization !== undefined) hash.update(`${headers.authorization}:`)
  return `"${hash.update(body).digest('hex')}"`
}

/** True if the caller has what we would send. If-None-Match takes precedence over If-Modified-Since. */
export function isUnchanged(headers: IncomingHttpHeaders, etag: string, lastModified: number | undefined): boolean {
  const given = headers['if-none-match']
  if (given !== undefined) return given.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)
  const since = Date.parse(headers['if-modified-since'] ?? '')
  return lastModified !== undefined && !Number.isNaN(since) && lastModified <= since
}
