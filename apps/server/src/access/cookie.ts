/**
 * Cookies: as much of RFC 6265 as one session needs. The value is a token in base64url, so nothing is ever escaped, and what would need it is refused: no header
 * can be split by a value.
 *
 * The cookie is out of reach for scripts (HttpOnly) and is not sent along by other sites (SameSite=Strict). Over https it is marked Secure, and the prefix `__Host-`
 * makes the browser see to it that no neighbour under the same domain has set it.
 */
export interface CookieSettings {
  readonly secure: boolean
  /** 0 removes it. */
  readonly maxAgeSeconds: number
}

export function cookieName(secure: boolean): string {
  return secure ? '__Host-sluice' : 'sluice'
}

/** The first of this name. Browsers send the closest one first. */
export function readCookie(header: string | readonly string[] | undefined, name: string): string | undefined {
  const text = typeof header === 'string' ? header : (header ?? []).join(';')
  for (const pair of text.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

export function writeCookie(value: string, { secure, maxAgeSeconds }: CookieSettings): string {
  if (!/^[\w-]*$/.test(value)) throw new TypeError('a cookie holds a token in base64url')
  const age = Math.max(0, Math.floor(maxAgeSeconds))
  return `${cookieName(secure)}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}
