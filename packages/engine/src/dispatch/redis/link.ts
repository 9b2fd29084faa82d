/**
 * Link: the connections of one process to Redis, and whether it can be relied on.
 *
 * Up means that Redis answers and takes what is written to it; whoever meets trouble says so, and from then on it is down until everything that
 * is needed could be prepared again. Whoever goes down is told at once, so that PostgreSQL dispatches from the next moment on.
 */
import type { Clock, Timer } from '../../support/clock.ts'
import { type Client, makeClient } from './connection.ts'
import { loadScripts } from './scripts.ts'
import { explainTrouble, isGroupGone, isRedisTrouble } from './trouble.ts'

export interface LinkOptions {
  readonly url: string
  readonly clock: Clock
  /** Makes what is needed in Redis; it is up when that went well. */
  readonly prepare: () => Promise<void>
  readonly onSwitched: (up: boolean, instead: string | undefined) => void
  readonly onNews: (channel: string, message: string) => void
  /** Redis answers, but somebody took the streams or their groups away. */
  readonly onGroupGone: (error: unknown) => void
  /** Trouble that is not Redis's. */
  readonly onOther: (error: unknown) => void
}

const answerMsMax = 2_000
/** Finite, so that a half-open connection is noticed. */
export const blockMs = 5_000
const unreached = 'Redis was not reached yet'
const retryMsMin = 250
const retryMsMax = 2_000

export class Link {
  readonly #options: LinkOptions
  readonly #blocking = new Map<string, Client>()
  readonly #sending = new Set<Promise<unknown>>()
  #client: Client | undefined
  #news: Client | undefined
  #up = false
  #instead: string | undefined = unreached
  #sinceMs: number
  #connecting: Promise<void> | undefined
  #rising: Promise<void> | undefined
  #retry: Timer | undefined
  #retryMs = retryMsMin
  #stopped = false

  constructor(options: LinkOptions) {
    this.#options = options
    this.#sinceMs = options.clock.now()
  }

  get up(): boolean {
    return this.#up
  }

  get instead(): string | undefined {
    return this.#instead
  }

  /** When it last came or went. */
  get since(): Date {
    return new Date(this.#sinceMs)
  }

  get client(): Client {
    if (!this.#client) throw new Error('Redis is not connected')
    return this.#client
  }

  /** Resolves when it is up, or it is clear that it is not. */
  async connect(): Promise<void> {
    if (this.#stopped) return
    this.#connecting ??= this.#makeClients()
    await this.#connecting
    await this.#rising
  }

  /** There is more to prepare than when it came up. */
  async refresh(): Promise<void> {
    if (!this.#up) return
    try {
      await this.#options.prepare()
    } catch (error) {
      this.down(error)
      return
    }
    if (this.#up) this.#options.onSwitched(true, undefined)
  }

  /** What was sent gets through first, as far as Redis answers. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#retry?.cancel()
    await this.#connecting?.catch(() => {})
    await this.drained()
    this.#up = false
    for (const client of [...this.#blocking.values(), this.#news, this.#client]) client?.disconnect()
  }

  async drained(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending)
  }

  /** For what nobody waits for. */
  send(deed: () => Promise<unknown>): void {
    if (!this.#up) return
    const sending: Promise<unknown> = deed()
      .catch((error: unknown) => this.judge(error))
      .finally(() => this.#sending.delete(sending))
    this.#sending.add(sending)
  }

  judge(error: unknown): void {
    if (isGroupGone(error)) this.#options.onGroupGone(error)
    else if (isRedisTrouble(error)) this.down(error)
    else if (!this.#stopped) this.#options.onOther(error)
  }

  down(error: unknown): void {
    if (this.#stopped) return
    const wasUp = this.#up
    this.#up = false
    if (wasUp) this.#sinceMs = this.#options.clock.now()
    // What came first tells most: the rest follows from it.
    if (wasUp || this.#instead === undefined || this.#instead === unreached) this.#instead = explainTrouble(error)
    this.#retry?.cancel()
    // A client that is not connected rises by its own 'ready'.
    this.#retry = this.#options.clock.after(this.#retryMs, () => void (this.#client?.status === 'ready' && this.#rise()))
    this.#retryMs = Math.min(this.#retryMs * 2, retryMsMax)
    if (wasUp) this.#options.onSwitched(false, this.#instead)
  }

  async subscribe(channel: string): Promise<void> {
    if (this.#news?.status === 'ready') await this.#news.subscribe(channel)
  }

  /** A connection for blocking reads of one pool, which hold up nobody else. */
  async blocking(pool: string): Promise<Client> {
    const client = this.#blocking.get(pool) ?? (await makeClient(this.#options.url, blockMs + answerMsMax))
    this.#blocking.set(pool, client)
    if (this.#stopped) throw new Error('Connection is closed.')
    // A blocked read that was cut off goes on over a connection that comes back by itself.
    if (client.status !== 'ready')
      await client.connect().catch((error: unknown) => {
        if (client.status !== 'ready') throw error
      })
    return client
  }

  async #makeClients(): Promise<void> {
    const { url, onNews } = this.#options
    const [client, news] = await Promise.all([makeClient(url, answerMsMax), makeClient(url, answerMsMax)])
    loadScripts(client)
    this.#client = client
    this.#news = news
    news.on('message', onNews)
    client.on('ready', () => void this.#rise())
    client.on('close', () => this.down(new Error('the connection to Redis was closed')))
    if (!this.#stopped) await Promise.all([client.connect(), news.connect()]).catch((error: unknown) => this.down(error))
  }

  #rise(): Promise<void> {
    this.#rising ??= this.#comeUp().finally(() => {
      this.#rising = undefined
    })
    return this.#rising
  }

  async #comeUp(): Promise<void> {
    if (this.#stopped || this.#up) return
    try {
      await this.#options.prepare()
    } catch (error) {
      this.down(error)
      return
    }
    if (this.#stopped) return
    this.#up = true
    this.#sinceMs = this.#options.clock.now()
    this.#instead = undefined
    this.#retryMs = retryMsMin
    this.#options.onSwitched(true, undefined)
  }
}
