/**
 * What every request says. Accept never changes from call to call, because it is part of what GitHub computes an ETag from. A
 * missing User-Agent is refused with 403. The API version is the one that GitHub Enterprise servers know as well; GitHub keeps
 * it until March 2028.
 */
export const accept = 'application/vnd.github+json'
export const apiVersion = '2022-11-28'

export function requestHeaders(token: string, userAgent: string, etag?: string): Record<string, string> {
  return {
    accept,
    authorization: `Bearer ${token}`,
    'user-agent': userAgent,
    'x-github-api-version': apiVersion,
    // An ETag with other characters can only come from a server that lies; without it the call costs one unit and is right.
    ...(etag !== undefined && /^[\x20-\x7e]{1,500}$/.test(etag) ? { 'if-none-match': etag } : {}),
  }
}
