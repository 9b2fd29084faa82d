/**
 * Starts a process of the bench. Each contender's round runs in a process of its own, on the Node that runs this one, so that
 * nobody inherits another's heap or compiled code. Whatever a library prints goes to standard error.
 */
import { fork } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Answer } from './line.ts'

export interface Child<Output> {
  readonly pid: number
  /** What the role returned. Rejects when the process fails or dies before. */
  readonly result: Promise<Output>
  tell(message: unknown): void
  kill(): Promise<void>
}

const program = new URL('child.ts', import.meta.url)
/** Starting up is never measured, but dozens of processes do it. */
const compiled = join(tmpdir(), 'sluice-bench-compiled')

/** Roles by name; start-child.ts knows what each takes and answers. */
export function forkChild<Output>(role: string, input: unknown, onTold: (message: unknown) => void = () => {}): Child<Output> {
  const env = { NODE_COMPILE_CACHE: compiled, ...process.env }
  const child = fork(program, { stdio: ['ignore', 2, 2, 'ipc'], env })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const result = new Promise<Output>((resolve, reject) => {
    let answered: { result: unknown } | undefined
    child.on('message', (answer: Answer) => {
      if ('told' in answer) onTold(answer.told)
      else if ('error' in answer) reject(new Error(`${role}: ${answer.error}`))
      else answered = answer
    })
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      if (answered) resolve(answered.result as Output)
      else reject(new Error(`the process for "${role}" ended early (${signal ?? code})`))
    })
  })
  result.catch(() => {}) // whoever awaits it hears of it; a child that is killed on purpose has nobody waiting
  child.send({ role, input })
  return {
    pid: child.pid ?? 0,
    result,
    tell: (message) => void child.send({ told: message }),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
