/**
 * Where a command says what: data on standard output, everything else on standard error.
 *
 * With `--json` the data is one document. A reader that has had enough (`| head`) ends the command quietly.
 */
import { describeTerminal, type Terminal } from '../terminal/terminal.ts'
import { plainLines } from '../terminal/text.ts'

export class Output {
  readonly json: boolean
  /** Of standard output. */
  readonly terminal: Terminal
  /** Of standard error, where bars are. */
  readonly side: Terminal
  readonly #process: NodeJS.Process

  constructor(process: NodeJS.Process, { json }: { json: boolean }) {
    this.#process = process
    this.json = json
    this.terminal = describeTerminal(process.stdout, process.env)
    this.side = describeTerminal(process.stderr, process.env)
  }

  /** The answer: a document for programs, a text for people. */
  answer(document: unknown, text: (terminal: Terminal) => string): void {
    this.line(this.json ? JSON.stringify(document, null, 2) : text(this.terminal))
  }

  /** A line of data: streams have one document a line. */
  line(text: string): void {
    this.#process.stdout.write(`${text}\n`)
  }

  raw(text: string): void {
    this.#process.stdout.write(text)
  }

  /** A word beside the data. */
  say(message: string): void {
    this.#process.stderr.write(`${message}\n`)
  }

  warn(message: string): void {
    this.say(`${this.side.paint('yellow', 'warning:')} ${plainLines(message)}`)
  }

  error(message: string): void {
    this.say(`${this.side.paint('red', 'error:')} ${plainLines(message)}`)
  }
}
