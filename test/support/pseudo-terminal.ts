/**
 * A command under a terminal that is none: `script` gives it one, so that what it draws can be looked at and keys can be pressed.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../apps/cli/bin/sluice.js', import.meta.url))

/** Part of every Debian; other systems may lack it. */
export const hasTerminal =
  process.platform === 'linux' && (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(`${folder}/script`))

export interface Drawn {
  /** Everything that was sent to the terminal. */
  readonly screen: string
  readonly ended: Promise<number | null>
  press(keys: string): void
  kill(): void
}

export function draw(
  args: readonly string[],
  { cwd, env, columns = 90, rows = 30 }: { cwd: string; env: Record<string, string>; columns?: number; rows?: number },
): Drawn {
  const command = `stty cols ${columns} rows ${rows}; exec '${process.execPath}' '${program}' ${args.map((arg) => `'${arg}'`).join(' ')}`
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd,
    env: { PATH: process.env['PATH'], TERM: 'xterm', SHELL: 'sh', ...env },
  })
  const seen = { screen: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (seen.screen += text))
  child.stdin.on('error', () => {})
  return {
    get screen() {
      return seen.screen
    },
    ended: new Promise((resolve) => child.once('close', resolve)),
    press: (keys) => void child.stdin.write(keys),
    kill: () => void child.kill('SIGKILL'),
  }
}
