/**
 * What is left of a token's hour, read from the headers of an answer, and when not to believe it.
 *
 * GitHub counts per account and resource (core, graphql), and says so on every answer, also on 301, 304 and 4xx. Three things
 * make the numbers lie. A 401 carries the bucket of 60 for callers without a token, and so does an answer on which the token
 * got lost on the way. The reset is a moment of the server's clock, and the local clock may differ: it is moved by the
 * difference, which the Date header tells, once that is larger than the second that the header is rounded to and the time on
 * the wire. And a proxy may answer with headers of yesterday: a reset that is long past, or days ahead, is no window at all.
 */
export interface Budget {
  readonly resource: string
  readonly limit: number
  readonly remaining: number
  /** In the local clock. */
  readonly resetAt: Date
}

const skewMsMin = 2_000
const pastMsMax = 60_000
const aheadMsMax = 86_400_000
/** Units an hour without a token. No token has so few. */
const anonymousLimit = 60

export interface ServerTime {
  /** The server's clock at the moment of the answer. */
  readonly servedAt: number
  /** The local clock at the same moment. */
  readonly now: number
}

export function readServerTime(headers: Headers, now: number): ServerTime {
  return { servedAt: readDate(headers.get('date')) ?? now, now }
}

/** A moment of the server's clock, in the local clock. */
function toLocal(atMs: number, { servedAt, now }: ServerTime): number {
  const skew = servedAt - now
  return Math.abs(skew) > skewMsMin ? atMs - skew : atMs
}

export function readBudget(status: number, headers: Headers, resource: string, time: ServerTime): Budget | undefined {
  const limit = readCount(headers.get('x-ratelimit-limit'))
  const remaining = readCount(headers.get('x-ratelimit-remaining'))
  const reset = readCount(headers.get('x-ratelimit-reset'))
  if (status === 401 || !limit || remaining === undefined || reset === undefined) return undefined
  const named = headers.get('x-ratelimit-resource') ?? resource
  if (limit === anonymousLimit && named === 'core') return undefined
  const resetAt = toLocal(reset * 1000, time)
  if (resetAt < time.now - pastMsMax || resetAt > time.now + aheadMsMax) return undefined
  return { resource: named.slice(0, 100), limit, remaining: Math.min(remaining, limit), resetAt: new Date(resetAt) }
}

/** How long the server asks to wait: seconds or a date, at most a day, so that no answer can put a lane to sleep for ever. */
export function readRetryAfter(headers: Headers, time: ServerTime): number | undefined {
  const text = headers.get('retry-after')
  const [seconds, date] = [readCount(text), readDate(text)]
  const ms = seconds === undefined ? date && date - time.servedAt : seconds * 1000
  return ms === undefined ? undefined : Math.min(Math.max(ms, 0), aheadMsMax)
}

/** A whole number of at most twelve digits, and nothing else. */
export const readCount = (text: string | null): number | undefined =>
  /^\d{1,12}$/.test(text?.trim() ?? '') ? Number(text) : undefined

/** The one form of dates that HTTP still sends. `Date.parse` alone also makes a date of "0". */
function readDate(text: string | null): number | undefined {
  const ms = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text ?? '')
    ? Date.parse(text ?? '')
    : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
