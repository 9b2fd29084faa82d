/**
 * One call of the command line: its output, its configuration, and the system it works on, opened when first needed and closed at the end.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Engine } from '@sluice/engine'
import type { Config, System, SystemWishes } from '@sluice/server'
import { CommandError, codeOf, exit } from './exit.ts'
import { Output } from './output.ts'

/** Told to stop, PostgreSQL goes on stopping also when nobody waits for it. */
const leaveMsMax = 10_000
const handBackMsMax = 2_000

interface Stoppable {
  stop(): Promise<void>
}

export class Session {
  readonly output: Output
  readonly process: NodeJS.Process
  readonly debug: boolean
  /** Aborted by the first signal to stop. */
  readonly interrupted: AbortSignal
  /** Set by commands that watch `interrupted` and end by themselves. */
  stopsInOrder = false
  /** Set by the second signal: nothing is waited for but this. */
  leaving: Promise<void> | undefined
  readonly #options: Readonly<Record<string, unknown>>
  #system: Promise<System> | undefined
  #engine: Engine | undefined
  #closers: (() => unknown)[] = []
  #databases: Promise<Stoppable | undefined>[] = []
  #handBack: (() => Promise<unknown>) | undefined

  constructor(process: NodeJS.Process, options: Readonly<Record<string, unknown>>, interrupted: AbortSignal) {
    this.process = process
    this.interrupted = interrupted
    this.#options = options
    this.debug = options['debug'] === true
    this.output = new Output(process, { json: options['json'] === true })
  }

  now(): number {
    return Date.now()
  }

  async config(): Promise<Config> {
    const [{ readConfig }, { fields }] = await Promise.all([import('@sluice/server'), import('@sluice/server/fields')])
    const flags = Object.fromEntries(fields.map(({ name }) => [name, this.#options[name]]))
    const file = this.#options['config'] as string | undefined
    const config = readConfig({ flags, env: this.process.env, file, cwd: this.process.cwd() })
    for (const warning of config.warnings) this.output.warn(warning)
    return config
  }

  /** The database of the configuration, with an engine that is not started. */
  system(wishes: SystemWishes = {}): Promise<System> {
    if (!this.#system) {
      this.#system = this.#open(wishes)
      this.takeAlong(
        this.#system.then(
          ({ local }) => local,
          () => undefined,
        ),
      )
    }
    return this.#system
  }

  /** The one that the command works with instead of that of `system`. */
  workWith(engine: Engine): void {
    this.#engine = engine
  }

  /** The one that the command worked with, if it came that far. */
  async engine(): Promise<Engine | undefined> {
    return this.#engine ?? (await this.#system?.catch(() => undefined))?.engine
  }

  /** Runs when the command is over, last in first out. */
  onEnd(close: () => unknown): void {
    this.#closers.push(close)
  }

  async end(): Promise<void> {
    for (const close of this.#closers.splice(0).toReversed()) await close()
    const system = await this.#system?.catch(() => undefined)
    await system?.stop()
  }

  /** Stopped also when there is no time for the end, so that no PostgreSQL of ours is left running. */
  readonly takeAlong = (database: Promise<Stoppable | undefined>): void => {
    this.#databases.push(database)
  }

  /** What works here hands its jobs back also when there is no time for their end: they are not to blame, and need no rescue. */
  handBackWith(handBack: () => Promise<unknown>): void {
    this.#handBack = handBack
  }

  leave(): Promise<void> {
    this.leaving ??= this.#leave()
    return this.leaving
  }

  async #leave(): Promise<void> {
    const handedBack = this.#handBack?.().catch(() => {}) // its database may be gone
    await Promise.race([handedBack, delay(handBackMsMax)])
    const stopped = Promise.allSettled(this.#databases.map(async (database) => (await database)?.stop()))
    await Promise.race([stopped, delay(leaveMsMax)])
  }

  async #open(wishes: SystemWishes): Promise<System> {
    const { openSystem } = await import('@sluice/server')
    const quiet = { info: () => {}, warn: () => {}, error: () => {} }
    const loud = {
      info: (event: string, fields?: object) => this.output.say(JSON.stringify({ event, ...fields })),
      warn: (event: string, fields?: object) => this.output.say(JSON.stringify({ event, ...fields })),
      error: (event: string, fields?: object) => this.output.say(JSON.stringify({ event, ...fields })),
    }
    return openSystem(await this.config(), { log: this.debug ? loud : quiet, ...wishes }).catch((error: unknown) => {
      if (!wishes.collects || codeOf(error) !== 'NO_DATABASE') throw error
      throw new CommandError(
        exit.unavailable,
        'NO_DATABASE',
        'Nothing was collected here yet: there is no database in this folder, and DATABASE_URL is not set. `GITHUB_TOKEN=… sluice collect LOGIN` makes one and collects; --database or --data says where another one is. To try it without a token of your own: `sluice github-sim`.',
      )
    })
  }
}
