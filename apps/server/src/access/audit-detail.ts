/**
 * What an entry of the audit log says beside who, what and when: plain, small, and without secrets, whatever it was given.
 *
 * Three nets: values that are `Sealed` show themselves as redacted; fields that are called like secrets lose their value; and all text goes through the scrubber that
 * the log uses too. An audit log that fails on a strange value would be a way not to be seen, so this never throws.
 */
import type { Scrubber } from '../telemetry/scrubber.ts'

/** Takes secrets out of text. */
export type Scrubs = Pick<Scrubber, 'scrub'>

const hidden = '[redacted]'
const secretName = /pass(?:word|phrase)?$|secret|token|authorization|cookie|credential|(?:api|private|master)[_-]?key|^sealed$/i
const [textCharsMax, entriesMax, depthMax, detailCharsMax] = [500, 50, 5, 4_000]
/** More is not looked through: what is cut off is not stored either. */
const lookedCharsMax = 10_000

export type Detail = Readonly<Record<string, unknown>>

/** As JSON that PostgreSQL takes. */
export function writeDetail(detail: Detail, scrubber: Scrubs): string {
  try {
    const text = JSON.stringify(plain(detail, scrubber, 0))
    return text.length <= detailCharsMax ? text : JSON.stringify({ clipped: text.slice(0, detailCharsMax).toWellFormed() })
  } catch {
    return JSON.stringify({ unreadable: true })
  }
}

/** Text that PostgreSQL stores, cut to what is useful, without secrets. */
export function cleanText(text: string, scrubber: Scrubs, charsMax: number): string {
  const clean = scrubber.scrub(text.slice(0, lookedCharsMax))
  return clean.slice(0, charsMax).replaceAll('\0', '\uFFFD').toWellFormed()
}

function plain(value: unknown, scrubber: Scrubs, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value, scrubber, textCharsMax)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === depthMax) return '…'
  const toJson: unknown = Reflect.get(value, 'toJSON')
  if (typeof toJson === 'function') return plain(Reflect.apply(toJson, value, []), scrubber, depth + 1)
  if (Array.isArray(value)) return value.slice(0, entriesMax).map((item) => plain(item, scrubber, depth + 1))
  const entries = Object.entries(value).slice(0, entriesMax)
  return Object.fromEntries(
    entries.map(([name, inner]) => [
      cleanText(name, scrubber, textCharsMax),
      secretName.test(name) ? hidden : plain(inner, scrubber, depth + 1),
    ]),
  )
}
