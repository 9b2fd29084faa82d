/**
 * What a status means to a REST call. One table in reading order; the first row that says something decides.
 */
import { readLinks } from '../page/links.ts'
import type { Said } from './answer.ts'
import { blockReason, refusal } from './limit-rules.ts'
import type { Reading } from './reading.ts'
import { fieldOf, textOf } from './reading.ts'

export type Rule = readonly [applies: (reading: Reading) => boolean, say: (reading: Reading) => Said<unknown>]

const status =
  (...statuses: number[]) =>
  (reading: Reading): boolean =>
    statuses.includes(reading.status)
export const malformed = (message: string): Said<never> => ({ type: 'malformed', message })
export const trouble = ({ message, retryAfterMs }: Reading): Said<never> => ({ type: 'server trouble', message, retryAfterMs })

/** Rows that hold for GraphQL as well. */
export const sharedRules: readonly Rule[] = [
  // The first 401 must stop every call of that token, so nothing about its body or headers can make it anything else.
  [status(401), ({ message }) => ({ type: 'unauthorized', message })],
  [status(403, 429), refusal],
  // Renamed and transferred repositories. Each hop costs a unit; the id in the new place is what stays.
  [status(301, 302, 303, 307, 308), moved],
  [status(304), ({ asked }) => (asked.conditional ? { type: 'not modified' } : malformed('304 without an ETag in the request'))],
  [status(451), (reading) => ({ type: 'blocked', reason: blockReason(reading) })],
]

/** Where the body decides, half a body decides nothing. When the time was up the server is slow, not wrong. */
export const flawRules: readonly Rule[] = [
  [({ flaw }) => flaw === 'timed out', trouble],
  [({ flaw }) => flaw !== undefined, ({ message }) => malformed(message)],
]

export const restRules: readonly Rule[] = [
  ...sharedRules,
  [status(202), () => ({ type: 'computing' })],
  [status(204, 205), () => ({ type: 'empty' })],
  [({ status }) => status >= 500 && status <= 599, trouble],
  ...flawRules,
  // "Issues are disabled for this repo" is about one resource and must not look like a deleted repository.
  [
    (reading) => status(404, 410)(reading) && disabledWords.test(reading.words),
    ({ words }) => ({ type: 'disabled', what: disabledWords.exec(words)?.[1]?.toLowerCase() ?? 'unknown' }),
  ],
  // An API version after its end answers 410 to everything: our bug, and no sign that anything is gone.
  [(reading) => status(410)(reading) && /version/i.test(reading.words), invalid],
  // GitHub says it in JSON. A page of HTML is a proxy, or the wrong base URL, and no sign that anything is gone.
  [
    (reading) => status(404, 410)(reading) && reading.json === undefined && reading.text !== '',
    ({ status }) => malformed(`status ${status}, the body is not JSON`),
  ],
  // Also what is private without access, and the pull requests of a repository that has them disabled: no proof of deletion.
  [status(404, 410), () => ({ type: 'gone' })],
  [(reading) => status(409)(reading) && /Git Repository is empty/i.test(reading.words), () => ({ type: 'empty' })],
  // Other conflicts pass, such as "Git Repository is unavailable"; so does a request that timed out on the server.
  [status(408, 409), trouble],
  [({ status }) => status >= 400 && status <= 499, invalid],
  [({ status }) => status < 200 || status > 299, ({ status }) => malformed(`status ${status} is none that GitHub uses`)],
  [({ json }) => json === undefined, ({ status }) => malformed(`status ${status}, the body is not JSON`)],
  [() => true, ok],
]

const disabledWords = /\b([A-Z][a-z]+(?: requests)?) (?:are|is|has been|have been) disabled\b/
const deepPageWords =
  /Pagination with the page parameter|pagination is limited|cursor based pagination|only the first \d+ search results/i

function invalid({ message, words }: Reading): Said<never> {
  return { type: 'invalid', message, deepPage: deepPageWords.test(words) }
}

function moved({ status, headers, json, asked }: Reading): Said<never> {
  const location = headers.get('location') ?? textOf(fieldOf(json, 'url'))
  const to = location !== '' && URL.canParse(location, asked.url) ? new URL(location, asked.url) : undefined
  if (!to || !/^https?:$/.test(to.protocol)) return malformed(`status ${status} without a place to go`)
  const id = /\/repositories\/(\d{1,15})(?=\/|$)/.exec(to.pathname)?.[1]
  return { type: 'moved', to: to.href, repositoryId: id === undefined ? undefined : Number(id) }
}

function ok({ headers, json, asked }: Reading): Said<unknown> {
  const link = readLinks(headers.get('link'))['next']
  const next = link !== undefined && URL.canParse(link, asked.url) ? new URL(link, asked.url) : undefined
  // The token goes wherever the link leads. Whoever sends it elsewhere, or back to the same page, has not written this page.
  if (link !== undefined && next?.origin !== asked.origin) return malformed('the link to the next page leads to another host')
  if (next?.href === asked.url) return malformed('the link to the next page leads to the same page')
  return {
    type: 'ok',
    data: json,
    next: link !== undefined && URL.canParse(link) ? link : next?.href,
    etag: headers.get('etag') ?? undefined,
    lastModified: headers.get('last-modified') ?? undefined,
    errors: [],
    sso: /^partial-results\b/i.test(headers.get('x-github-sso') ?? '') ? 'partial' : undefined,
  }
}
