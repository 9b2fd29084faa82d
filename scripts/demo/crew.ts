/**
 * The crew: worker processes, what they were last heard to do, and the ways to make their life hard.
 *
 * A worker keeps its number over its lives; each life is a process. One that ends without being asked to is started again after a moment, as
 * any supervisor would.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { slots, type WorkerMessage } from './link.ts'

export type Condition = 'starting' | 'working' | 'frozen' | 'killed' | 'stopping' | 'stopped'

export interface Member {
  readonly number: number
  readonly process: ChildProcess
  /** Processes of this number, the living one last. */
  readonly pids: readonly number[]
  readonly condition: Condition
  readonly running: number
  readonly leads: boolean
  readonly doing: string
  readonly heardMs: number
}

export interface CrewNews {
  readonly number: number
  readonly event: string
  readonly fields: Record<string, unknown>
}

const program = new URL('./worker.js', import.meta.url)
const restartMs = 1_200

export class Crew {
  readonly #database: string
  readonly #server: string
  readonly #tell: (news: CrewNews) => void
  readonly #members = new Map<number, Member>()
  #closed = false

  constructor(database: string, server: string, tell: (news: CrewNews) => void) {
    this.#database = database
    this.#server = server
    this.#tell = tell
  }

  get members(): readonly Member[] {
    return [...this.#members.values()]
  }

  get leader(): number | undefined {
    return this.members.find(({ leads, condition }) => leads && condition === 'working')?.number
  }

  /** The number of the worker that this process is, or was. */
  numberOf(pid: number): number | undefined {
    return this.members.find(({ pids }) => pids.includes(pid))?.number
  }

  start(number: number): void {
    if (this.#closed) return
    const child = fork(program, [this.#database, this.#server], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const pids = [...(this.#members.get(number)?.pids ?? []), child.pid ?? 0]
    const heardMs = performance.now()
    this.#members.set(number, {
      number,
      process: child,
      pids,
      condition: 'starting',
      running: 0,
      leads: false,
      doing: '',
      heardMs,
    })
    child.on('message', (message) => this.#hear(number, child, message as WorkerMessage))
    child.once('exit', (code, signal) => this.#ended(number, child, signal ?? `code ${code}`))
  }

  kill(number: number): void {
    this.#signal(number, 'SIGKILL', { condition: 'killed', leads: false })
  }

  freeze(number: number): void {
    this.#signal(number, 'SIGSTOP', { condition: 'frozen' })
  }

  wakeUp(number: number): void {
    this.#signal(number, 'SIGCONT', { condition: 'working' })
  }

  /** Stops a worker in order; it is not started again. */
  async stop(number: number): Promise<void> {
    const child = this.#members.get(number)?.process
    if (!child || hasEnded(child)) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    this.#signal(number, 'SIGTERM', { condition: 'stopping' })
    await ended
  }

  /** All processes are gone when this resolves, the frozen ones too. */
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

  #hear(number: number, child: ChildProcess, message: WorkerMessage): void {
    const member = this.#members.get(number)
    if (member?.process !== child) return
    if (message.type === 'log') return this.#tell({ number, event: message.event, fields: message.fields })
    const condition = member.condition === 'starting' ? 'working' : member.condition
    const { running, leads, doing } = message
    this.#change(number, { condition, heardMs: performance.now(), running: Math.min(running, slots), leads, doing })
  }

  #ended(number: number, child: ChildProcess, how: string): void {
    const member = this.#members.get(number)
    if (member?.process !== child || this.#closed) return
    if (member.condition === 'stopping') {
      this.#change(number, { condition: 'stopped', running: 0, leads: false })
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
