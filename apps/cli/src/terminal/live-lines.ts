/**
 * A few lines on a terminal that are drawn over and over while something goes on, below what stands there already. Nothing where nobody looks.
 */
import { usual } from './terminal.ts'

const hideCursor = '\u001B[?25l'
const showCursor = '\u001B[?25h'
const clearLine = '\u001B[K'
const clearBelow = '\u001B[J'

/** A bar of half cells; something is never drawn as nothing. */
export function drawBar(share: number, width: number): { readonly full: string; readonly rest: string } {
  const halves = Math.round(Math.min(1, Math.max(0, share)) * width * 2)
  const drawn = share > 0 ? Math.max(1, halves) : 0
  const full = '━'.repeat(Math.floor(drawn / 2)) + (drawn % 2 === 1 ? '╸' : '')
  return { full, rest: '─'.repeat(width - full.length) }
}

export class LiveLines {
  readonly #stream: NodeJS.WriteStream
  #height = 0
  #open = false

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
  }

  /** Lines that are no wider than the terminal: one that wraps could not be drawn over. */
  show(lines: readonly string[]): void {
    const fitting = lines.slice(0, Math.max(1, (this.#stream.rows || usual.rows) - 1))
    const up = this.#height > 0 ? `\u001B[${this.#height}A\r` : ''
    this.#stream.write(
      `${this.#open ? '' : hideCursor}${up}${fitting.map((line) => `${line}${clearLine}\n`).join('')}${clearBelow}`,
    )
    this.#open = true
    this.#height = fitting.length
  }

  /** The last lines stay. May be called again. */
  end(): void {
    if (this.#open) this.#stream.write(showCursor)
    this.#open = false
    this.#height = 0
  }
}
