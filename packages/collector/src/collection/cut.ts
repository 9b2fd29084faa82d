/**
 * What is too large is cut: key numbers stay, the rest is dropped, and the row says so.
 *
 * Text is also made storable here, since PostgreSQL takes neither NUL nor half of a surrogate pair, and people do put both into titles.
 */
export interface Cut<T> {
  readonly value: T
  readonly truncated: boolean
}

export const titleCharsMax = 1_000
export const payloadBytesMax = 16_000
/** Of a payload that is too large, texts up to this stay: a ref, a sha, an action. */
const keptCharsMax = 200
const keptFieldsMax = 50
const keptDepthMax = 4

export function cut(text: string, charsMax = titleCharsMax): Cut<string> {
  const clean = text.replaceAll('\0', '\uFFFD').toWellFormed()
  if (clean.length <= charsMax) return { value: clean, truncated: false }
  // Not in the middle of a pair.
  return { value: clean.slice(0, charsMax).replace(/[\uD800-\uDBFF]$/, ''), truncated: true }
}

/** A JSON value as text that is below the limit. Numbers, truths and short texts of a value that is too large stay. */
export function cutPayload(payload: unknown, bytesMax = payloadBytesMax): Cut<string> {
  const whole = write(payload)
  if (Buffer.byteLength(whole) <= bytesMax) return { value: whole, truncated: false }
  for (let depth = keptDepthMax; depth > 0; depth--) {
    const kept = write(keepNumbers(payload, depth) ?? {})
    if (Buffer.byteLength(kept) <= bytesMax) return { value: kept, truncated: true }
  }
  return { value: '{}', truncated: true }
}

function write(payload: unknown): string {
  const text = JSON.stringify(payload, (_key, value: unknown) => (typeof value === 'string' ? cut(value, Infinity).value : value))
  // A key may hold what a value may not.
  return (text ?? 'null').replaceAll('\\u0000', '\uFFFD').toWellFormed()
}

/** Lists go first: they are what grows. */
function keepNumbers(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.length <= keptCharsMax ? value : undefined
  if (value === null || typeof value !== 'object') return value
  if (depth === 0 || Array.isArray(value)) return undefined
  const kept = Object.entries(value)
    .slice(0, keptFieldsMax)
    .map(([key, field]) => [key, keepNumbers(field, depth - 1)] as const)
  return Object.fromEntries(kept.filter(([key, field]) => field !== undefined && key.length <= keptCharsMax))
}
