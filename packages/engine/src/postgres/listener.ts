/**
 * Hears wake-ups: one LISTEN connection per process.
 *
 * LISTEN comes first, then `onConnect`, so that whoever looks for work there cannot miss what is told meanwhile. A connection pooler may
 * swallow notifications without a word, so each new connection first sends itself an echo through another connection; if it does not come
 * back, `hears` stays false and the heartbeat is the only wake-up. Messages are hints: a lost one delays, it never loses.
 */
import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { type Clock, pause } from '../support/clock.ts'
import type { Log } from '../support/log.ts'
import type { Service } from '../support/service.ts'
import type { Database, Statement } from './database.ts'

export interface ListenerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly onMessage: (message: string) => void
  /** Messages for this process alone. */
  readonly onOwnMessage: (message: string) => void
  /** It has turned out that notifications arrive. */
  readonly onHears: (channel: OwnChannel) => void
  /** `again`: there was a connection before, and it broke. */
  readonly onConnect: (again: boolean) => void
}

/** A channel that nobody else listens to, for nobody can guess its name. It lives as long as its connection. */
export interface OwnChannel {
  readonly name: string
  /** Asks something on the connection itself: the first value of the answer, or nothing if there is none. */
  ask(text: string): Promise<unknown>
  /** Makes the connection anew. */
  renew(): void
}

const echoStatement: Statement = { name: 'sluice_echo', text: `select pg_notify('sluice', $1)` }
const echoTimeoutMs = 3_000
const reconnectMsMax = 5_000

export class Listener implements Service {
  hears = false
  readonly #options: ListenerOptions
  readonly #stopping = new AbortController()
  #client: pg.Client | undefined
  #connected = false
  #loop: Promise<void> | undefined

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  /** Resolves when the first connection listens; a failure to get one is not fatal, the loop goes on trying. */
  async start(): Promise<void> {
    if (this.#loop) return
    await new Promise<void>((first) => {
      this.#loop = this.#run(first)
    })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#client?.end().catch(() => {})
    await this.#loop
  }

  async #run(first: () => void): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#stopping
    let waitMs = 50
    while (!signal.aborted) {
      try {
        const { ended } = await this.#connect()
        waitMs = 50
        first()
        await ended
        if (!signal.aborted) log.warn('listen connection lost', {})
      } catch (error) {
        log.warn('listen failed', { reason: String(error) })
      }
      this.hears = false
      first()
      if (!signal.aborted) await pause(clock, waitMs, signal)
      waitMs = Math.min(waitMs * 2, reconnectMsMax)
    }
  }

  /** Connects, listens, checks that it hears. */
  async #connect(): Promise<{ ended: Promise<void> }> {
    const { database, onMessage, onOwnMessage, onConnect } = this.#options
    const client = await database.client('listen')
    this.#client = client
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()))
    const echo = `echo:${randomUUID()}`
    let heard: () => void = () => {}
    const echoed = new Promise<void>((resolve) => {
      heard = resolve
    })
    client.on('notification', ({ channel, payload }) => {
      if (channel !== 'sluice') return onOwnMessage(payload ?? '')
      // Only the echo proves it, however late it is: behind a pooler, what somebody else says just then may come with the answer to LISTEN, and nothing after it.
      if (payload === echo) {
        this.hears = true
        heard()
        void this.#openOwn(client)
      } else if (payload && !payload.startsWith('echo:')) onMessage(payload)
    })
    await client.query('listen sluice').catch(async (error: unknown) => {
      await client.end().catch(() => {})
      throw error
    })
    onConnect(this.#connected)
    this.#connected = true
    this.#judge(echo, echoed)
    if (this.#stopping.signal.aborted) await client.end()
    return { ended }
  }

  /** Only on a connection that hears: behind a pooler what is set here would stay with somebody else. */
  async #openOwn(client: pg.Client): Promise<void> {
    let last: Promise<unknown> = Promise.resolve()
    const ask = (text: string): Promise<unknown> => {
      const asked = last.then(() => client.query<unknown[]>({ text, rowMode: 'array' }))
      last = asked.then(
        ({ rows }) => rows[0]?.[0],
        () => undefined,
      )
      return last
    }
    const name = await ask('select sluice.listen_own()')
    // Not by a farewell: whoever is asked to leave may not answer either.
    const renew = (): void => void (client as unknown as { connection: { stream: Duplex } }).connection.stream.destroy()
    if (typeof name === 'string') this.#options.onHears({ name, ask, renew })
  }

  #judge(echo: string, echoed: Promise<void>): void {
    const { database, clock, log } = this.#options
    const late = pause(clock, echoTimeoutMs, this.#stopping.signal).then(() => false)
    const sent = database.send(database.hot, echoStatement, [echo]).then(() => echoed)
    Promise.race([sent.then(() => true), late])
      .then((hears) => {
        if (hears) this.hears = true
        if (!this.hears && !this.#stopping.signal.aborted)
          log.warn('wake-ups do not arrive', {
            effect: 'jobs start with the heartbeat',
            fix: 'connect to PostgreSQL directly, not through a pooler',
          })
      })
      .catch(() => {})
  }
}
