/**
 * A progress bar on standard error. Where nobody looks it says nothing, so that logs of a pipeline stay readable.
 */
import type { SingleBar } from 'cli-progress'
import type { Terminal } from './terminal.ts'

export class Bar {
  readonly #stream: NodeJS.WriteStream
  readonly #terminal: Terminal
  #bar: SingleBar | undefined

  constructor(stream: NodeJS.WriteStream, terminal: Terminal) {
    this.#stream = stream
    this.#terminal = terminal
  }

  async show(done: number, total: number, note: string): Promise<void> {
    if (!this.#terminal.live) return
    this.#bar ??= await this.#open()
    this.#bar.setTotal(Math.max(total, done))
    this.#bar.update(done, { note })
  }

  /** Leaves the last state standing, on a line of its own. May be called again. */
  end(): void {
    this.#bar?.stop()
    this.#bar = undefined
  }

  async #open(): Promise<SingleBar> {
    const { default: progress } = await import('cli-progress')
    const bar = new progress.SingleBar(
      {
        format: `${this.#terminal.paint('cyan', '{bar}')} {value}/{total}  {note}`,
        stream: this.#stream,
        hideCursor: true,
        gracefulExit: false,
        linewrap: null,
        // Drawn when there is something new; the timer only keeps the clock of the library going.
        fps: 10,
        barsize: Math.max(10, Math.min(40, (this.#terminal.columns ?? 80) - 50)),
      },
      progress.Presets.shades_classic,
    )
    bar.start(1, 0, { note: '' })
    return bar
  }
}
