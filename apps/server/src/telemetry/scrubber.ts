/**
 * Scrubber: takes secrets out of text before it leaves the process, whoever put them there.
 *
 * Redaction by field name is not enough: a secret travels in an error message, an address, a header somebody dumped. So known secrets are looked
 * for as values, in the forms in which they turn up: as they are, escaped in JSON, URL-encoded, in hex, and in base64 wherever it begins
 * inside a longer text (`user:secret` of a basic authorization). Things that are secrets by their shape are taken out unasked.
 */
const hidden = '[redacted]'
/** A shorter value would be found in ordinary words. */
export const secretCharsMin = 6
const base64CharsMin = 8

const shapes: readonly [RegExp, string][] = [
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:@/"']*:)[^\s@/"']+@/gi, `$1${hidden}@`],
  [/\b(sluice_[a-z0-9]{10}_)[\w-]{43}/g, `$1${hidden}`],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${hidden}`],
]

export class Scrubber {
  readonly #values = new Set<string>()
  #pattern: RegExp | undefined

  /** From now on this value is shown nowhere. False: it is too short to be told from ordinary text. */
  hide(value: string): boolean {
    if (value.length < secretCharsMin) return false
    if (!this.#values.has(value)) this.#pattern = undefined
    this.#values.add(value)
    return true
  }

  scrub(text: string): string {
    let clean = text
    if (this.#values.size > 0) {
      this.#pattern ??= patternOf(this.#values)
      clean = clean.replace(this.#pattern, hidden)
    }
    for (const [shape, instead] of shapes) clean = clean.replace(shape, instead)
    return clean
  }
}

function patternOf(values: ReadonlySet<string>): RegExp {
  const forms = new Set([...values].flatMap(formsOf))
  // The longest first: a form that begins like another must not leave its end behind.
  const parts = [...forms].toSorted((a, b) => b.length - a.length).map((form) => form.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'))
  return new RegExp(parts.join('|'), 'g')
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value)
  const url = encodeURIComponent(value.toWellFormed())
  const form = new URLSearchParams([['', value]]).toString().slice(1)
  const json = JSON.stringify(value).slice(1, -1)
  return [
    value,
    json,
    JSON.stringify(json).slice(1, -1),
    ...[url, form].flatMap((text) => [text, text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())]),
    bytes.toString('hex'),
    ...[0, 1, 2].flatMap((offset) => base64Core(bytes, offset)),
  ]
}

/** The characters of a base64 text that depend on the secret alone, when so many bytes (by threes) stand before it. */
function base64Core(bytes: Buffer, offset: number): string[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
  const core = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
  return core.length < base64CharsMin ? [] : [core, core.replaceAll('+', '-').replaceAll('/', '_')]
}
