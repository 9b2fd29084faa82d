/**
 * The built `sluice` as a child process, in a folder of its own and with nothing of the environment but what it needs. For tests of the command line
 * and of whole systems.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { eventually as awaited, test as base } from './database.ts'
import { scratchFolder } from './scratch-folder.ts'

const program = fileURLToPath(new URL('../../apps/cli/bin/sluice.js', import.meta.url))

/** A command takes a second, and on a machine that is busy five; a test gives a dozen of them. */
const patienceMs = 60_000
vi.setConfig({ testTimeout: 240_000 })

export interface Said {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

export interface Started {
  readonly pid: number
  readonly out: string
  readonly err: string
  readonly ended: Promise<Said>
  /** The document that a role prints with `--json` when it is ready. */
  ready(): Promise<Ready>
  signal(name: NodeJS.Signals): void
}

export interface Ready {
  readonly role: string
  readonly pid: number
  readonly address: string
  readonly firstKey: string | null
  readonly local: { readonly version: string; readonly folder: string } | null
}

export interface Wishes {
  readonly env?: Record<string, string | undefined>
  readonly input?: string
  /** Default: the folder of the test. */
  readonly cwd?: string
}

export interface SluiceFixtures {
  /** A folder of the test. Commands run in it. */
  folder: string
  /** Runs a command on the test's own database and waits for its end. */
  sluice: (args: readonly string[], wishes?: Wishes) => Promise<Said>
  /** Starts a command and leaves it running; killed when the test ends. */
  start: (args: readonly string[], wishes?: Wishes) => Started
}

export const test = base.extend<SluiceFixtures>({
  folder: scratchFolder,
  sluice: async ({ start }, use) => {
    await use((args, wishes) => start(args, wishes).ended)
  },
  start: async ({ folder, database }, use) => {
    const started: { child: ChildProcess; ended: Promise<Said> }[] = []
    await use((args, wishes = {}) => {
      const one = launch(args, { cwd: folder, ...wishes, env: { DATABASE_URL: database.url, ...wishes.env } })
      started.push(one)
      return one.started
    })
    for (const { child } of started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await Promise.all(started.map(({ ended }) => ended))
  },
})

/** As `eventually` of the database, for what commands do or say: such a look may start one itself. */
export function eventually<T>(look: Parameters<typeof awaited<T>>[0]): Promise<T> {
  return awaited(look, patienceMs)
}

/** What a test does not say must not come from the machine it runs on. */
function clean(env: Record<string, string | undefined>): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  const all = { PATH, HOME, TMPDIR, ...env }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

function launch(args: readonly string[], { env = {}, input, cwd }: Wishes) {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: clean(env), stdio: 'pipe' })
  const killWithUs = (): void => void child.kill('SIGKILL')
  process.once('exit', killWithUs)
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const ended = new Promise<Said>((resolve) => {
    child.once('close', (code, signal) => {
      process.off('exit', killWithUs)
      resolve({ code, signal, ...said })
    })
  })
  const started: Started = {
    pid: child.pid as number,
    get out() {
      return said.out
    },
    get err() {
      return said.err
    },
    ended,
    ready: () => whenReady(said, ended),
    signal: (name) => void child.kill(name),
  }
  return { child, ended, started }
}

async function whenReady(said: { out: string; err: string }, ended: Promise<Said>): Promise<Ready> {
  let over = false
  void ended.then(() => (over = true))
  return eventually(() => {
    if (over && !said.out.includes('\n}\n')) throw new Error(`it ended before it was ready: ${said.out}${said.err}`)
    return said.out.includes('\n}\n') && (JSON.parse(said.out.slice(0, said.out.indexOf('\n}\n') + 3)) as Ready)
  })
}
