/**
 * Ink: the small marks that a frame is drawn with. Text in, text out; colours have no width.
 */
export type Colour = 'red' | 'green' | 'yellow' | 'blue' | 'cyan' | 'dim' | 'bold'
export type Paint = (colour: Colour, text: string) => string

const escape = '\u001b'
const codes: Record<Colour, number> = { red: 31, green: 32, yellow: 33, blue: 34, cyan: 36, dim: 2, bold: 1 }
export const colours: Paint = (colour, text) => `${escape}[${codes[colour]}m${text}${escape}[0m`
export const noColours: Paint = (_, text) => text

/** A bar of half cells; something is never drawn as nothing. */
export function bar(share: number, width: number): string {
  const halves = Math.round(Math.min(1, Math.max(0, share)) * width * 2)
  const drawn = share > 0 ? Math.max(1, halves) : 0
  return '━'.repeat(Math.floor(drawn / 2)) + (drawn % 2 === 1 ? '╸' : '')
}

export const number = (value: number): string => value.toLocaleString('en-US')
export const jobs = (count: number): string => `${number(count)} ${count === 1 ? 'job' : 'jobs'}`
export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

/** The line in pieces: a colour, or one visible character. */
const pieces = new RegExp(`${escape}\\[\\d+m|.`, 'gsu')
const isColour = (piece: string): boolean => piece.startsWith(escape)
const width = (line: string): number => (line.match(pieces) ?? []).filter((piece) => !isColour(piece)).length

/** Cuts a line to so many visible characters, so that it never wraps. */
export function cut(line: string, max: number): string {
  if (width(line) <= max) return line
  let shown = 0
  const kept = (line.match(pieces) ?? []).filter((piece) => isColour(piece) || shown++ < max)
  return kept.join('')
}

/** Left and right of a line; when both do not fit, the left one is cut. */
export function spread(left: string, right: string, max: number): string {
  const room = max - width(right) - 2
  const fitting = width(left) > room ? `${cut(left, room - 1)}…` : `${left}${' '.repeat(room - width(left))}`
  return `${fitting}  ${right}`
}
