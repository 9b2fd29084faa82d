/**
 * The screen: shows scenes as they come. On a terminal one frame is drawn over the last; elsewhere what happens is printed line by line, with
 * a word about progress now and then.
 */
import { drawFrame, groups, proofLines, type Scene } from './frame.ts'
import { colours, noColours, seconds } from './ink.ts'

export interface Screen {
  show(scene: Scene): void
  /** The last scene stays. */
  close(): void
}

export interface Output {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  write(text: string): unknown
}

export function openScreen(output: Output, env: Record<string, string | undefined>): Screen {
  return output.isTTY && !env['NO_COLOR'] && !env['CI'] && env['TERM'] !== 'dumb' ? liveScreen(output) : plainScreen(output)
}

function liveScreen(output: Output): Screen {
  let height = 0
  output.write('\u001b[?25l')
  return {
    show(scene) {
      const lines = drawFrame(scene, output.columns || 80, output.rows || 24, colours)
      const up = height > 0 ? `\u001b[${height}A\r` : ''
      // Each line is erased behind its end and what was below is erased at the end, so nothing flickers.
      output.write(`${up}${lines.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`)
      height = lines.length
    },
    // Ctrl-C leaves its mark on the line that the cursor stands on.
    close: () => void output.write('\r\u001b[K\u001b[?25h'),
  }
}

const progressEveryMs = 3_000

function plainScreen(output: Output): Screen {
  let shown = 0
  let progressMs = progressEveryMs
  let titled = false
  let proved = false
  const print = (line: string): void => void output.write(`${line}\n`)
  return {
    show(scene) {
      if (!titled) print(`${scene.title}\n${scene.subtitle}\n`)
      titled = true
      for (const { atMs, text } of scene.happenings.slice(shown)) print(`${seconds(atMs).padStart(7)}  ${text}`)
      shown = scene.happenings.length
      if (scene.proof && !proved) {
        proved = true
        for (const line of ['', ...proofLines(scene.proof, noColours), ...scene.footer]) print(line)
      }
      if (scene.elapsedMs < progressMs || proved) return
      progressMs += progressEveryMs
      print(`${seconds(scene.elapsedMs).padStart(7)}  ${progressOf(scene)}`)
    },
    close() {},
  }
}

/** `acorn 34 of 80, birch done …` */
function progressOf({ people }: Scene): string {
  return people
    .map(({ login, bars, mood, note }) => {
      const [done, total] = (['done', 'total'] as const).map((side) => groups.reduce((sum, one) => sum + bars[one][side], 0))
      return mood === 'collecting' ? `${login} ${done} of ${total}` : `${login} ${note}`
    })
    .join(', ')
}
