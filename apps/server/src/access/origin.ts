/**
 * Whether a change was asked for by our own page, or by a page elsewhere that uses the reader's browser (CSRF).
 *
 * A browser adds by itself what lets its user in: the cookie of a session, or that the request comes from this machine. It does not add a key, so a caller with
 * a key is not looked at. For the others two things have to hold. The content type is JSON, which a page elsewhere cannot send without asking us first, and we
 * never say yes. And the browser's own word about where the request comes from, Sec-Fetch-Site, is `same-origin`, or `none` for what a person typed.
 * Browsers leave it out on plain http to other machines; then Origin has to be our own host. Tools send neither.
 */
import { type Asking, type Caller, oneHeader } from './caller.ts'
import { type Refusal, refuse } from './refusal.ts'

export interface Judged {
  readonly method: string
  readonly headers: Asking['headers']
  /** Nobody yet for a sign-in: that could be forced on somebody as well. */
  readonly caller?: Caller | undefined
}

const safe = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

export function judgeOrigin({ method, headers, caller }: Judged): Refusal | undefined {
  if (safe.has(method.toUpperCase()) || caller?.kind === 'key') return undefined
  if (!fromOurselves(headers)) return refuse('CROSS_SITE')
  return isJson(oneHeader(headers, 'content-type')) ? undefined : refuse('JSON_REQUIRED')
}

function fromOurselves(headers: Asking['headers']): boolean {
  const { 'sec-fetch-site': site, origin, host } = headers
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  if (origin === undefined) return true
  return (
    typeof origin === 'string' && typeof host === 'string' && URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
  )
}

function isJson(contentType: string | undefined): boolean {
  return contentType?.split(';')[0]?.trim().toLowerCase() === 'application/json'
}
