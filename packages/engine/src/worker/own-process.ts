/**
 * Runs a kind's module in a process of its own, so that work which blocks or kills a process does so to nobody else.
 *
 * The child imports the module and calls its default export with the input; the answer comes back over Node's own channel. Children are
 * kept for the next job of the same module. When the signal is aborted the child is killed: code that blocks hears nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AnyKind } from '../job/kind.ts'
import { SluiceError } from '../support/errors.ts'

interface Answer {
  readonly value?: unknown
  readonly error?: { readonly message: string; readonly stack?: string }
}

const idlePerModuleMax = 4
const host = `
  process.on('message', async ({ module, input }) => {
    try {
      const { default: run } = await import(module)
      process.send({ value: await run(input) })
    } catch (error) {
      process.send({ error: { message: String(error?.message ?? error), stack: error?.stack } })
    }
  })
  process.on('disconnect', () => process.exit())
`

export class OwnProcesses {
  readonly #idle = new Map<string, ChildProcess[]>()
  readonly #all = new Set<ChildProcess>()

  async run(kind: AnyKind, input: unknown, signal: AbortSignal): Promise<unknown> {
    if (!kind.module)
      throw new SluiceError('INVALID_OPTION', { field: `${kind.kindName}.module`, problem: 'compute() needs a module' })
    signal.throwIfAborted()
    const module = kind.module.href
    const child = this.#idle.get(module)?.pop() ?? (await this.#spawn(module, kind.kindName))
    const kill = (): void => void child.kill('SIGKILL')
    signal.addEventListener('abort', kill)
    if (signal.aborted) kill()
    try {
      const answer = await ask(child, { module, input }, kind.kindName)
      this.#keep(module, child)
      if (answer.error)
        throw Object.assign(new Error(answer.error.message), answer.error.stack ? { stack: answer.error.stack } : {})
      return answer.value
    } finally {
      signal.removeEventListener('abort', kill)
    }
  }

  stop(): void {
    for (const child of this.#all) child.kill('SIGKILL')
  }

  /** A process that cannot be started (no memory, too many of them) fails the call and nothing else. */
  async #spawn(module: string, kind: string): Promise<ChildProcess> {
    try {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', host], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        serialization: 'advanced',
      })
      this.#all.add(child)
      child.once('exit', () => this.#forget(module, child))
      child.on('error', () => this.#forget(module, child)) // with nobody to hear it, it would end this process
      await once(child, 'spawn')
      return child
    } catch (error) {
      throw new SluiceError('OWN_PROCESS_DIED', { kind, how: `not started: ${(error as Error).message}` }, error)
    }
  }

  #keep(module: string, child: ChildProcess): void {
    const idle = this.#idle.get(module) ?? []
    this.#idle.set(module, idle)
    if (idle.length >= idlePerModuleMax || !child.connected) return void child.kill()
    idle.push(child)
  }

  #forget(module: string, child: ChildProcess): void {
    this.#all.delete(child)
    const idle = this.#idle.get(module)
    if (idle?.includes(child)) idle.splice(idle.indexOf(child), 1)
  }
}

function ask(child: ChildProcess, question: { module: string; input: unknown }, kind: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const died = (code: number | null, signal: string | null): void => {
      child.off('message', answered)
      reject(new SluiceError('OWN_PROCESS_DIED', { kind, how: signal ?? `exit code ${code}` }))
    }
    const answered = (answer: unknown): void => {
      child.off('exit', died)
      resolve(answer as Answer)
    }
    child.once('exit', died)
    child.once('message', answered)
    try {
      child.send(question, (error) => {
        if (error) child.kill('SIGKILL')
      })
    } catch (error) {
      // The input cannot travel (a function, say): the child never heard of it and is as good as before.
      child.off('exit', died)
      child.off('message', answered)
      resolve({ error: { message: String(error) } })
    }
  })
}
