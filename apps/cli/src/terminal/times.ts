/**
 * Times as people say them: how long ago, how long until, how long it took.
 */
const units: readonly [name: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
]

/** Two units at most: `2h 5m`, `45s`, `120ms`. */
export function span(ms: number): string {
  const whole = Math.max(0, Math.round(ms))
  if (whole < 1_000) return `${whole}ms`
  const at = units.findIndex(([, size]) => whole >= size)
  const [name, size] = units[at] ?? ['s', 1_000]
  const count = Math.floor(whole / size)
  const next = units[at + 1]
  const rest = next ? Math.floor((whole % size) / next[1]) : 0
  return count >= 10 || !next || rest === 0 ? `${count}${name}` : `${count}${name} ${rest}${next[0]}`
}

const momentMs = 1_000

export function relative(date: Date | null | undefined, nowMs: number): string {
  if (!date) return ''
  const ms = nowMs - date.getTime()
  if (Number.isNaN(ms)) return ''
  if (Math.abs(ms) < momentMs) return 'now'
  return ms > 0 ? `${coarse(ms)} ago` : `in ${coarse(-ms)}`
}

function coarse(ms: number): string {
  const [name, size] = units.find(([, size]) => ms >= size) ?? ['s', 1_000]
  return `${Math.floor(ms / size)}${name}`
}

/** The time on the wall of whoever looks; with its day when that is another one. */
export function wallTime(date: Date, nowMs: number): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
  const isToday = date.toDateString() === new Date(nowMs).toDateString()
  return isToday ? time : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
}

/** The exact time beside the relative one, for pages about one thing. */
export function exact(date: Date | null | undefined, nowMs: number): string {
  return date ? `${date.toISOString().replace(/\.\d{3}Z$/, 'Z')} (${relative(date, nowMs)})` : ''
}
