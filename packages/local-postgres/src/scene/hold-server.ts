/**
 * Starts a server holder, a process of its own that uses a local PostgreSQL, for tests about several processes.
 *
 * The program is run from `dist`, because Node 20 does not read TypeScript; build first. It ends with the test.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Account } from '../folder/account.ts'
import type { LocalPostgresOptions } from '../start-local-postgres.ts'

export interface HolderOptions extends Omit<LocalPostgresOptions, 'log'> {
  readonly account?: Account
}

export type HolderMessage =
  | { event: 'started'; url: string; dataFolder: string; socketFolder: string; pid: number; role: 'started' | 'attached' }
  | { event: 'failed'; code: string; message: string }
  | { event: 'restarted'; pid: number }
  | { event: 'gave up'; pid: number }

type Started = Extract<HolderMessage, { event: 'started' }>

export class Holder {
  readonly #child: ChildProcess
  readonly #gone: Promise<unknown>
  readonly #messages: HolderMessage[] = []

  constructor(options: HolderOptions) {
    const program = fileURLToPath(new URL('../../dist/scene/server-holder.js', import.meta.url))
    this.#child = fork(program, [JSON.stringify(options)], { execArgv: [] })
    this.#gone = once(this.#child, 'exit')
    this.#child.on('message', (message) => void this.#messages.push(message as HolderMessage))
    onTestFinished(() => this.signal('SIGKILL'))
  }

  async next<E extends HolderMessage['event']>(event: E): Promise<Extract<HolderMessage, { event: E }>> {
    while (this.#messages.length === 0) await Promise.race([once(this.#child, 'message'), this.#gone.then(endedEarly)])
    const message = this.#messages.shift()
    if (message?.event !== event) throw new Error(`expected ${event}, got ${JSON.stringify(message)}`)
    return message as Extract<HolderMessage, { event: E }>
  }

  async stop(): Promise<void> {
    this.#child.send('stop')
    await this.#gone
  }

  /** SIGSTOP and SIGCONT do not end it; wait only for what does. */
  async signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    this.#child.kill(name)
    if (name === 'SIGKILL') await this.#gone
  }
}

export async function holdServer(options: HolderOptions): Promise<{ holder: Holder; server: Started }> {
  const holder = new Holder(options)
  return { holder, server: await holder.next('started') }
}

function endedEarly(): never {
  throw new Error('the server holder ended before it said anything')
}
