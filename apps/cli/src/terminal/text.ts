/**
 * Text on a terminal: how wide it is, how it is cut, and what must not get there. Names and messages come from anybody, so
 * control characters, which could move the cursor or change the colours, are shown instead of sent.
 */
/** Made for the first text that is not plain ASCII, because making it takes a while. */
let segmenter: Intl.Segmenter | undefined
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}])/u
/** Control characters, and those that turn the direction of the text around. */
const dangerous = /\p{Cc}|[\u202A-\u202E\u2066-\u2069]/gu
// oxlint-disable-next-line no-control-regex -- colours that we have put there ourselves
const painted = /\u001B\[[\d;]*m/g

/** On one line, harmless. */
export function plain(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ').replace(dangerous, escape)
}

/** Lines stay, the rest is harmless. */
export function plainLines(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(dangerous, (one) => (one === '\n' ? one : one === '\t' ? '  ' : escape(one)))
}

function escape(one: string): string {
  const code = one.codePointAt(0) ?? 0
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`
}

function* graphemes(text: string): Iterable<string> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  for (const { segment } of segmenter.segment(text)) yield segment
}

/** Columns that it takes. Colours take none. */
export function widthOf(text: string): number {
  const bare = text.replace(painted, '')
  if (/^[\x20-\x7E]*$/.test(bare)) return bare.length
  let width = 0
  for (const segment of graphemes(bare)) width += wide.test(segment) ? 2 : 1
  return width
}

export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let [kept, used] = ['', 0]
  for (const segment of graphemes(text)) {
    const next = used + widthOf(segment)
    if (next > width - 1) break
    kept += segment
    used = next
  }
  return `${kept}…`
}

export function pad(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)))
  return side === 'left' ? text + space : space + text
}

/** Breaks between words; a word that is longer than the line is cut into pieces. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
    while (widthOf(line) > width) {
      const head = [...graphemes(line)]
      let piece = ''
      while (head[0] !== undefined && widthOf(piece + head[0]) <= width) piece += head.shift()
      lines.push(piece)
      line = head.join('')
    }
  }
  return [...lines, line]
}
