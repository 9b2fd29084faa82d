/**
 * Limits and refusals: what 403 and 429 mean, in the order in which they have to be read.
 *
 * Words come before headers. The last permitted call of an hour has remaining 0 as well, and it may be a 200, or a 403 of
 * another kind; and a secondary limit may come without Retry-After and with a lot remaining. Only when the words say nothing
 * do the headers decide.
 */
import type { ForbiddenKind, Said } from './answer.ts'
import { fieldOf, type Reading, textOf } from './reading.ts'

const silentWaitMs = 60_000
const leastWaitMs = 1_000

const secondaryWords = /secondary rate limit|abuse detection/i
const secondaryPage = /#(?:about-)?(?:secondary|abuse)-rate-limits$/
const primaryWords = /API rate limit (?:already )?exceeded/i

export const saysSecondary = (words: string, documentationUrl = ''): boolean =>
  secondaryWords.test(words) || secondaryPage.test(documentationUrl)

export const saysPrimary = (words: string): boolean => primaryWords.test(words)

/** Until the window ends. Without a window that can be believed: a minute, then the next answer will tell. */
export function primaryLimit({ budget, retryAfterMs, time }: Reading): Said<never> {
  const resetAt = budget?.resetAt.getTime() ?? time.now + (retryAfterMs ?? silentWaitMs)
  return { type: 'primary limit', resetAt: new Date(Math.max(resetAt, time.now + leastWaitMs)) }
}

/** Retry-After, else the end of a window that is used up, else a minute. */
export function secondaryLimit({ budget, retryAfterMs, time }: Reading): Said<never> {
  const usedUpUntil = budget?.remaining === 0 ? budget.resetAt.getTime() : undefined
  const retryAt = retryAfterMs === undefined ? (usedUpUntil ?? time.now + silentWaitMs) : time.now + retryAfterMs
  return { type: 'secondary limit', retryAt: new Date(Math.max(retryAt, time.now + leastWaitMs)) }
}

const forbiddenWords: readonly [RegExp, ForbiddenKind][] = [
  [/SAML enforcement|single sign-on/i, 'sso'],
  [/IP allow list/i, 'ip'],
  // After several 401s GitHub refuses the account's valid tokens, too.
  [/Maximum number of login attempts/i, 'login-attempts'],
  // The only 403 that is HTML, and is about us and not about the token.
  [/administrative rules|User-Agent header/i, 'user-agent'],
  [/Resource not accessible|must have|insufficient|not authorized|permission|scope/i, 'permission'],
]

/** 403 and 429. */
export function refusal(reading: Reading): Said<never> {
  const { status, headers, words, documentationUrl, message, flaw, retryAfterMs, budget } = reading
  if (saysSecondary(words, documentationUrl)) return secondaryLimit(reading)
  if (saysPrimary(words)) return primaryLimit(reading)
  // A repository that GitHub's staff blocked: 403 for its terms, 451 for the law.
  if (/Repository access blocked/i.test(words)) return { type: 'blocked', reason: blockReason(reading) }
  if (/^required\b/i.test(headers.get('x-github-sso') ?? '')) return { type: 'forbidden', kind: 'sso', message }
  const kind = forbiddenWords.find(([pattern]) => pattern.test(words))?.[1]
  if (kind) return { type: 'forbidden', kind, message }
  if (retryAfterMs !== undefined) return secondaryLimit(reading)
  if (budget?.remaining === 0) return primaryLimit(reading)
  if (status === 429) return secondaryLimit(reading)
  // Half a refusal could be any of them, and some of them close a lane or a user: ask again.
  if (flaw) return { type: 'malformed', message }
  return { type: 'forbidden', kind: 'other', message }
}

export const blockReason = ({ json }: Reading): string =>
  textOf(fieldOf(fieldOf(json, 'block'), 'reason')).slice(0, 100) || 'unknown'
