/**
 * One line at the bottom that is written over and over while something is waited for. Nothing where nobody looks.
 */
import type { Terminal } from './terminal.ts'
import { cut } from './text.ts'

export class StatusLine {
  readonly #stream: { write(text: string): unknown }
  readonly #terminal: Terminal
  #shown = ''

  constructor(stream: { write(text: string): unknown }, terminal: Terminal) {
    this.#stream = stream
    this.#terminal = terminal
  }

  show(text: string): void {
    const line = cut(text, (this.#terminal.columns ?? 80) - 1)
    if (!this.#terminal.live || line === this.#shown) return
    this.#shown = line
    this.#stream.write(`\r\u001B[2K${this.#terminal.paint('dim', line)}`)
  }

  /** Takes the line away. May be called again. */
  end(): void {
    if (this.#shown === '') return
    this.#shown = ''
    this.#stream.write('\r\u001B[2K')
  }
}
