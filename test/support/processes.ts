/**
 * Real processes for guarantees: starts a program of test/programs, hears the JSON lines it says, tells it things, stops and kills it.
 *
 * A program says a line synchronously, so what it said before it was killed is never lost. Whatever a test leaves running is killed and
 * waited for when the test ends, stopped processes included.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { test as base, eventually, onRedis } from './database.ts'

export type Line = Record<string, unknown>

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Program {
  readonly pid: number
  /** Everything it has said so far. */
  readonly said: readonly Line[]
  /** What went to standard error, for a person who looks into a failure. */
  readonly complaints: string
  readonly ended: Promise<Ending>
  readonly alive: boolean
  /** The first line that has `field` (and that value, if one is given), said already or yet to come. */
  hears(field: string, value?: unknown, deadlineMs?: number): Promise<Line>
  tell(message: Line): void
  signal(signal: NodeJS.Signals): void
}

export interface ProcessFixtures {
  /** Starts test/programs/`name`.ts on the test's database. */
  program: (name: string, settings?: Line) => Program
}

export const test = base.extend<ProcessFixtures>({
  program: async ({ database }, use) => {
    const started: Program[] = []
    await use((name, settings = {}) => {
      const one = startProgram(name, { database: database.url, ...onRedis, ...settings })
      started.push(one)
      return one
    })
    for (const one of started) if (one.alive) one.signal('SIGKILL')
    await Promise.all(started.map((one) => one.ended))
  },
})

/**
 * Ends one of them in the middle of its work, as soon as one holds so many jobs. It is stopped before we look, so that it is hit with what we saw.
 * It is known by its process id: one that was slow for a moment may have been declared dead, and have another number by now.
 */
export async function endHolder(
  client: pg.Client,
  among: readonly Program[],
  signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL',
  jobs = 1,
): Promise<Program> {
  const held = async ({ pid }: Program): Promise<number> => {
    const text = `select from sluice.job j join sluice.worker w on w.id = j.worker where split_part(w.name, ':', 2) = $1`
    return (await client.query(text, [String(pid)])).rowCount ?? 0
  }
  const holder = await eventually(async () => {
    for (const one of among) {
      if (!one.alive || (await held(one)) < jobs) continue
      one.signal('SIGSTOP')
      if ((await held(one)) >= jobs) return one
      one.signal('SIGCONT')
    }
    return undefined
  }, 60_000)
  holder.signal(signal)
  holder.signal('SIGCONT')
  if (signal === 'SIGKILL') await holder.ended
  return holder
}

/** Kills one while it holds jobs, then lets one leave in order, and so on; each has a successor, and none goes before that works, or a busy machine would have one at work instead of all. */
export async function endWorkers(
  client: pg.Client,
  workers: Program[],
  start: () => Program,
  over: () => boolean,
  ends: { kills: number; leaves: number },
): Promise<void> {
  while (!over()) {
    await wait(300 + Math.random() * 600)
    const kill = ends.kills <= ends.leaves
    const shuffled = workers.toSorted(() => Math.random() - 0.5)
    const one = kill ? await endHolder(client, shuffled) : (shuffled[0] as Program)
    if (!kill) one.signal('SIGTERM')
    ends[kill ? 'kills' : 'leaves']++
    const successor = start()
    workers[workers.indexOf(one)] = successor
    await successor.hears('worker')
  }
}

export function startProgram(name: string, settings: Line): Program {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`../programs/dist/${name}.js`, import.meta.url))], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, SETTINGS: JSON.stringify(settings) },
  })
  const killWithUs = (): void => void child.kill('SIGKILL')
  process.once('exit', killWithUs)
  const ended = new Promise<Ending>((resolve) => {
    // 'close' comes when the last line has been read, 'exit' may come before.
    child.once('close', (code, signal) => {
      process.off('exit', killWithUs)
      resolve({ code, signal })
    })
  })
  const said: Line[] = []
  let complaints = ''
  readLines(child, (line) => said.push(line))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  return {
    pid: child.pid as number,
    said,
    ended,
    get complaints() {
      return complaints
    },
    get alive() {
      return child.exitCode === null && child.signalCode === null
    },
    async hears(field, value, deadlineMs = 60_000) {
      try {
        return await eventually(
          () => said.find((line) => field in line && (value === undefined || line[field] === value)),
          deadlineMs,
        )
      } catch (cause) {
        const wanted = value === undefined ? field : `${field}: ${JSON.stringify(value)}`
        throw new Error(`${name} never said "${wanted}".\nIt said: ${JSON.stringify(said)}\nIt complained: ${complaints}`, {
          cause,
        })
      }
    },
    tell: (message) => void child.send(message, () => {}),
    signal: (signal) => void child.kill(signal),
  }
}

function readLines(child: ChildProcess, onLine: (line: Line) => void): void {
  let rest = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(JSON.parse(line) as Line)
  })
}
