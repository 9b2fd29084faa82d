/**
 * The crew: `sluice up` a few times over, as anybody would start it, what its processes were heard to say, and the ways to make their life hard.
 *
 * A process keeps its number and its port over its lives. One that ends without being asked to is started again after a moment, as any supervisor would.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type Condition = 'starting' | 'working' | 'killed' | 'stopping' | 'stopped'

export interface Member {
  readonly number: number
  readonly process: ChildProcess
  /** Processes of this number, the living one last. */
  readonly pids: readonly number[]
  readonly condition: Condition
  readonly leads: boolean
  readonly address: string
  /** Jobs that it was heard to end. */
  readonly done: number
}

export interface CrewNews {
  readonly number: number
  readonly event: string
  readonly fields: Readonly<Record<string, unknown>>
}

const program = fileURLToPath(new URL('../../../apps/cli/bin/sluice.js', import.meta.url))
const restartMs = 1_200

export class Crew {
  readonly #env: Readonly<Record<string, string>>
  readonly #cwd: string
  readonly #tell: (news: CrewNews) => void
  readonly #members = new Map<number, Member>()
  #closed = false

  /** `env` is all that the processes are told. */
  constructor(env: Readonly<Record<string, string>>, cwd: string, tell: (news: CrewNews) => void) {
    this.#env = env
    this.#cwd = cwd
    this.#tell = tell
  }

  get members(): readonly Member[] {
    return [...this.#members.values()]
  }

  get leader(): number | undefined {
    return this.members.find(({ leads, condition }) => leads && condition === 'working')?.number
  }

  /** One that answers. */
  get address(): string {
    return this.members.find(({ condition }) => condition === 'working')?.address ?? ''
  }

  /** The number of the member that this process is, or was. */
  numberOf(pid: number): number | undefined {
    return this.members.find(({ pids }) => pids.includes(pid))?.number
  }

  start(number: number): void {
    if (this.#closed) return
    const before = this.#members.get(number)
    const port = before?.address ? new URL(before.address).port : '0'
    const child = spawn(process.execPath, [program, 'up', '--json', '--port', port], {
      cwd: this.#cwd,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: process.env['TMPDIR'], ...this.#env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#members.set(number, {
      number,
      process: child,
      pids: [...(before?.pids ?? []), child.pid ?? 0],
      condition: 'starting',
      leads: false,
      address: before?.address ?? '',
      done: before?.done ?? 0,
    })
    let greeting = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      greeting += text
      if (greeting.includes('\n}\n')) this.#ready(number, child, (JSON.parse(greeting) as { address: string }).address)
    })
    createInterface({ input: child.stderr }).on('line', (line) => this.#hear(number, child, line))
    child.once('exit', (code, signal) => this.#ended(number, child, signal ?? `code ${code}`))
  }

  kill(number: number): void {
    this.#signal(number, 'SIGKILL', { condition: 'killed', leads: false })
  }

  /** Stops a process in order; it is not started again. */
  async stop(number: number): Promise<void> {
    const child = this.#members.get(number)?.process
    if (!child || hasEnded(child)) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    this.#signal(number, 'SIGTERM', { condition: 'stopping' })
    await ended
  }

  /** All processes are gone when this resolves. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(
      this.members.map(async ({ process: child }) => {
        if (hasEnded(child)) return
        const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
        child.kill('SIGKILL')
        await ended
      }),
    )
  }

  #signal(number: number, signal: NodeJS.Signals, change: Partial<Member>): void {
    this.#members.get(number)?.process.kill(signal)
    this.#change(number, change)
  }

  #ready(number: number, child: ChildProcess, address: string): void {
    if (this.#members.get(number)?.process === child) this.#change(number, { condition: 'working', address })
  }

  /** Lines of the log are JSON; what else is said is for people. */
  #hear(number: number, child: ChildProcess, line: string): void {
    const member = this.#members.get(number)
    if (member?.process !== child || !line.startsWith('{')) return
    const { msg: event, ...fields } = JSON.parse(line) as { msg: string }
    if (event === 'job done') return this.#change(number, { done: member.done + 1 })
    if (event === 'leading') this.#change(number, { leads: true })
    if (event === 'leadership lost') this.#change(number, { leads: false })
    this.#tell({ number, event, fields })
  }

  #ended(number: number, child: ChildProcess, how: string): void {
    const member = this.#members.get(number)
    if (member?.process !== child || this.#closed) return
    if (member.condition === 'stopping') {
      this.#change(number, { condition: 'stopped', leads: false })
      return this.#tell({ number, event: 'stopped', fields: {} })
    }
    if (member.condition !== 'killed') this.#tell({ number, event: 'died', fields: { how } })
    this.#change(number, { condition: 'killed', leads: false })
    setTimeout(() => this.#restart(number), restartMs).unref()
  }

  #restart(number: number): void {
    if (this.#closed) return
    this.#tell({ number, event: 'started again', fields: {} })
    this.start(number)
  }

  #change(number: number, change: Partial<Member>): void {
    const member = this.#members.get(number)
    if (member) this.#members.set(number, { ...member, ...change })
  }
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null
