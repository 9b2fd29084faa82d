/**
 * A page that takes the whole terminal and gives it back as it was: what stood there before is there again, the cursor too, however it ends.
 */
import { usual } from './terminal.ts'
import { cut, widthOf } from './text.ts'

const enter = '\u001B[?1049h\u001B[?25l'
const leave = '\u001B[?25h\u001B[?1049l'
const home = '\u001B[H'
const clearLine = '\u001B[K'
const clearBelow = '\u001B[J'
const ctrlC = '\u0003'

export class Screen {
  /** Aborted when the person at it presses q or Ctrl-C. */
  readonly quit: AbortSignal
  readonly #process: NodeJS.Process
  readonly #ending = new AbortController()
  readonly #close = (): void => this.close()
  readonly #redraw = (): void => this.draw(this.#text)
  #text = ''
  #open = true

  constructor(process: NodeJS.Process) {
    this.#process = process
    this.quit = this.#ending.signal
    process.stdout.write(enter)
    process.on('exit', this.#close)
    process.stdout.on('resize', this.#redraw)
    if (process.stdin.isTTY) {
      process.stdin.setRawMode(true)
      process.stdin.setEncoding('utf8').on('data', this.#hear).resume()
    }
  }

  readonly #hear = (key: string): void => {
    if (key === 'q' || key === ctrlC) this.#ending.abort()
  }

  draw(text: string): void {
    if (!this.#open) return
    this.#text = text
    const columns = this.#process.stdout.columns || usual.columns
    const rows = this.#process.stdout.rows || usual.rows
    const lines = text.split('\n')
    const shown = lines.length > rows - 1 ? [...lines.slice(0, rows - 2), '…'] : lines
    // Colours have no width, so lines that hold some are cut only where they were made.
    const fitted = shown.map((line) => (widthOf(line) === line.length ? cut(line, columns) : line))
    this.#process.stdout.write(`${home}${fitted.map((line) => `${line}${clearLine}`).join('\r\n')}${clearBelow}`)
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    const { stdin, stdout } = this.#process
    this.#process.off('exit', this.#close)
    stdout.off('resize', this.#redraw)
    if (stdin.isTTY) {
      stdin.setRawMode(false)
      stdin.off('data', this.#hear).pause()
    }
    stdout.write(leave)
  }
}
