/**
 * How something that goes on is shown: lines that are drawn over on a terminal, a sentence now and then elsewhere, a JSON document for each change with `--json`.
 */
import type { Session } from '../session/session.ts'
import { LiveLines } from '../terminal/live-lines.ts'
import { describeTerminal, type Terminal } from '../terminal/terminal.ts'

const lineEveryMs = 10_000
const waitLineEveryMs = 60_000

export interface Shower<T> {
  show(seen: T): void
  end(): void
}

/** What there is to say of it. Pure. */
export interface Telling<T> {
  readonly draw: (seen: T, nowMs: number, terminal: Terminal) => readonly string[]
  /** `waits` is what it waits for, if it does: a change of that is worth a sentence at once. */
  readonly say: (seen: T, nowMs: number) => { readonly sentence: string; readonly waits: string; readonly isOver: boolean }
  /** The document, and the part of it whose change is worth another one. */
  readonly document: (seen: T) => { readonly whole: object; readonly steady: object }
}

export function openShower<T>({ output, process, now }: Session, telling: Telling<T>): Shower<T> {
  if (output.json) return jsonLines(telling, (line) => output.line(line))
  if (!output.side.live) return spokenLines(telling, (line) => output.say(line), now)
  const lines = new LiveLines(process.stderr)
  return {
    show: (seen) => lines.show(telling.draw(seen, now(), describeTerminal(process.stderr, process.env))),
    end: () => lines.end(),
  }
}

function jsonLines<T>({ document }: Telling<T>, write: (line: string) => void): Shower<T> {
  let last = ''
  return {
    show(seen) {
      const { whole, steady } = document(seen)
      const state = JSON.stringify(steady)
      if (state !== last) write(JSON.stringify({ type: 'progress', ...whole }))
      last = state
    },
    end() {},
  }
}

/** Where nobody looks at it while it changes: now and then, and at once when it begins to wait or goes on. */
function spokenLines<T>({ say }: Telling<T>, write: (line: string) => void, now: () => number): Shower<T> {
  let nextMs = 0
  let lastWaits = ''
  return {
    show(seen) {
      const { sentence, waits, isOver } = say(seen, now())
      if (now() < nextMs && !isOver && waits === lastWaits) return
      nextMs = now() + (waits === '' ? lineEveryMs : waitLineEveryMs)
      lastWaits = waits
      write(sentence)
    },
    end() {},
  }
}
