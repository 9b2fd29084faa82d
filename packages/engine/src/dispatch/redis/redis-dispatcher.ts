/**
 * Dispatch by Redis: ids travel through streams, one for each pool and class of priority, and every claim is made by id in PostgreSQL, which decides.
 *
 * Redis holds nothing that cannot be made again from PostgreSQL. When it is away, full or does not answer, this process goes on over PostgreSQL at once, says so
 * in its status, and comes back by itself; whatever Redis missed meanwhile is brought by the leader of each pool. docs/redis.md draws the way of an id.
 */
import type { Database } from '../../postgres/database.ts'
import type { Clock, Timer } from '../../support/clock.ts'
import type { Log } from '../../support/log.ts'
import type { Demand, Dispatcher, DispatchStatus, Door, Found, Offer, Over, Supply } from '../dispatcher.ts'
import { PostgresDispatcher } from '../postgres/postgres-dispatcher.ts'
import { Carrier } from './carrier.ts'
import { type ClaimedIds, claimIds, type Offered, readInstallation } from './claim-ids.ts'
import { type Client, makeClient } from './connection.ts'
import { classes, group, newsOf, prefixOf, streamOf } from './keys.ts'
import { type Entry, type RedisSource, RedisSupply, type Refused } from './redis-supply.ts'
import { loadScripts, runScript } from './scripts.ts'
import { Tender } from './tender.ts'

export interface RedisDispatcherOptions {
  readonly url: string
  readonly prefix: string
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly leaseMs: number
  readonly priorityStepMs: () => number
  readonly name: string
  readonly onChanged?: (by: 'postgres' | 'redis', reason: string | undefined) => void
  readonly onTakenOver?: (pool: string, jobs: number) => void
}

const answerMsMax = 2_000
/** Finite, so that a half-open connection is noticed. */
const blockMs = 5_000
const retryMsMin = 250
const retryMsMax = 2_000
/** After a refusal for want of room the copy of the lane is made anew, once. */
const askAgainMs = 100
const rowsMax = 500

interface HeldEntry extends Entry {
  readonly pool: string
  readonly fence: number
}

export class RedisDispatcher implements Dispatcher, RedisSource {
  readonly #options: RedisDispatcherOptions
  readonly #postgres: PostgresDispatcher
  readonly #carrier: Carrier
  readonly #tenders = new Map<string, Tender>()
  readonly #supplies: RedisSupply[] = []
  readonly #blocking = new Map<string, Client>()
  readonly #entries = new Map<number, HeldEntry>()
  readonly #toBring = new Set<number>()
  readonly #sending = new Set<Promise<unknown>>()
  readonly #toAsk = new Map<string, Set<string>>()
  #client: Client | undefined
  #news: Client | undefined
  #installation = ''
  #consumer = ''
  #pools: readonly string[] = []
  #up = false
  #instead: string | undefined = 'Redis was not reached yet'
  #connecting: Promise<void> | undefined
  #rising: Promise<void> | undefined
  #retry: Timer | undefined
  #retryMs = retryMsMin
  #bringing: Promise<void> | undefined
  #stopped = false

  constructor(options: RedisDispatcherOptions) {
    const { database, clock } = options
    this.#options = options
    this.#postgres = new PostgresDispatcher(database, clock)
    this.#carrier = new Carrier({
      database,
      client: () => this.#connected(),
      prefix: (pool) => this.#prefix(pool),
      nowMs: () => clock.now(),
    })
  }

  get up(): boolean {
    return this.#up
  }

  get status(): DispatchStatus {
    const leads = [...this.#tenders.values()].some((tender) => tender.leads)
    return { by: this.#up ? 'redis' : 'postgres', instead: this.#instead, leads }
  }

  get announces(): boolean {
    void this.#connect()
    return this.#up
  }

  async start(door: Door, pools: readonly string[]): Promise<void> {
    this.#pools = pools
    this.#consumer = `worker:${door.worker()}`
    this.#entries.clear()
    await this.#connect()
    await this.#rising
  }

  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    this.#retry?.cancel()
    await this.#connecting?.catch(() => {})
    while (this.#sending.size > 0 || this.#bringing) await Promise.all([...this.#sending, this.#bringing])
    await Promise.all([...this.#tenders.values()].map((tender) => tender.resign()))
    this.#up = false
    for (const client of [...this.#blocking.values(), this.#news, this.#client]) client?.disconnect()
  }

  supply(demand: Demand, door: Door): Supply {
    const supply = new RedisSupply(demand, door, this, (pool) => this.#postgres.supply(pool, door))
    this.#supplies.push(supply)
    return supply
  }

  offer(jobs: readonly Offer[]): void {
    if (!this.#up) return
    const { clock, priorityStepMs } = this.#options
    const known = new Map<string, Offered[]>()
    for (const { id, facts } of jobs) {
      if (!facts) {
        this.#toBring.add(id)
        continue
      }
      const rank = Math.round(clock.now() - facts.priority * priorityStepMs())
      const offered = { id, pool: facts.pool, lane: '', priority: facts.priority, rank, cost: 1, dueMs: undefined }
      const others = known.get(facts.pool)
      if (others) others.push(offered)
      else known.set(facts.pool, [offered])
    }
    for (const [pool, offered] of known) this.#send(() => this.#carrier.offer(pool, offered))
    if (this.#toBring.size > 0) this.#bringing ??= this.#bring()
  }

  acknowledge(over: readonly Over[]): void {
    const rows = new Map<string, (string | number)[]>()
    const back: Offer[] = []
    for (const { claim, verdict, said } of over) {
      const { id, fence, lane = '' } = claim
      if (['retry', 'snooze', 'handed back'].includes(verdict.outcome)) back.push({ id, facts: undefined })
      const held = this.#entries.get(id)
      if (held?.fence !== fence) continue
      this.#entries.delete(id)
      const refund = verdict.outcome === 'handed back' && verdict.started === false ? '' : (said?.refund ?? 0)
      const row = [id, held.priorityClass, held.entry, lane, refund, said?.remaining ?? '', said?.resetAt?.getTime() ?? '', 0]
      const others = rows.get(held.pool)
      if (others) others.push(...row)
      else rows.set(held.pool, row)
    }
    if (!this.#up) return
    this.#send(async () => {
      for (const [pool, all] of rows)
        for (let at = 0; at < all.length; at += 8 * rowsMax)
          this.#ask(pool, await this.#run<string[]>(pool, 'acknowledge', all.slice(at, at + 8 * rowsMax)))
      // Only now: while they are known by their old entry, an offer of them is none.
      if (back.length > 0) this.offer(back)
    })
  }

  hear(topic: string): void {
    const [, ...rest] = topic.split(':')
    this.#lookAt(rest.join(':'))
  }

  onBeat({ ready, turns }: Found): void {
    for (const pool of new Set([...ready, ...turns])) this.#lookAt(pool)
  }

  // As a source, for its supplies

  async take(pool: string, count: number): Promise<Entry[]> {
    const [rows, more] = await this.#run<[[number, string, string][], number]>(pool, 'take', [this.#consumer, count])
    if (more === 1 && rows.length < count) this.#send(() => this.#connected().publish(newsOf(this.#prefix(pool)), 'dry'))
    return rows.map(([priorityClass, entry, id]) => ({ id: Number(id), priorityClass, entry }))
  }

  async wait(pool: string): Promise<Entry[]> {
    const client = await this.#blockingClient(pool)
    const streams = classes.map((one) => streamOf(this.#prefix(pool), one))
    const answer = (await client.xreadgroup(
      ...([
        'GROUP',
        group,
        this.#consumer,
        'COUNT',
        1,
        'BLOCK',
        blockMs,
        'STREAMS',
        ...streams,
        ...streams.map(() => '>'),
      ] as unknown as Parameters<Client['xreadgroup']>),
    )) as [string, [string, string[]][]][] | null
    return (answer ?? []).flatMap(([stream, entries]) =>
      entries.map(([entry, fields]) => ({ id: Number(fields[1]), priorityClass: streams.indexOf(stream), entry })),
    )
  }

  async claim(pool: string, door: Door, entries: readonly Entry[]): Promise<ClaimedIds> {
    const { database } = this.#options
    const asked = { pool, worker: door.worker(), ids: entries.map(({ id }) => id), unknownKinds: door.unknownKinds() }
    const found = await claimIds(database, asked)
    const byId = new Map(entries.map((one) => [one.id, one]))
    for (const { id, fence } of found.claims) {
      const entry = byId.get(id)
      if (entry) this.#entries.set(id, { ...entry, pool, fence })
    }
    return found
  }

  async refuse(pool: string, refused: readonly Refused[]): Promise<void> {
    if (refused.length === 0 || !this.#up) return
    const rows = refused.flatMap(({ id, priorityClass, entry, what, ms }) => [id, priorityClass, entry, what, ms ?? ''])
    const lanes = await this.#run<[string[], string[]]>(pool, 'refuse', rows)
    this.#ask(pool, lanes[0])
    if (lanes[1].length > 0) this.#options.clock.after(askAgainMs, () => this.#ask(pool, lanes[1]))
  }

  async trouble(pool: string, error: unknown): Promise<void> {
    if (this.#stopped || !this.#up) return
    if (!isGroupGone(error)) return this.#goDown(error)
    try {
      await this.#prepare(pool)
      await this.#connected().publish(newsOf(this.#prefix(pool)), 'dry')
    } catch (worse) {
      this.#goDown(worse)
    }
  }

  #prefix(pool: string): string {
    return prefixOf(this.#options.prefix, this.#installation, pool)
  }

  #connected(): Client {
    if (!this.#client) throw new Error('Redis is not connected')
    return this.#client
  }

  #run<T>(pool: string, script: Parameters<typeof runScript>[1], args: readonly (string | number)[]): Promise<T> {
    return runScript<T>(this.#connected(), script, this.#prefix(pool), args)
  }

  /** For what nobody waits for. */
  #send(deed: () => Promise<unknown>): void {
    if (!this.#up) return
    const sending = deed()
      .catch((error: unknown) => this.#judge(error))
      .finally(() => this.#sending.delete(sending))
    this.#sending.add(sending)
  }

  #ask(pool: string, lanes: readonly string[]): void {
    if (lanes.length === 0 || !this.#up) return
    const waiting = this.#toAsk.get(pool)
    if (waiting) {
      for (const lane of lanes) waiting.add(lane)
      return
    }
    this.#toAsk.set(pool, new Set(lanes))
    setImmediate(() => {
      const asked = [...(this.#toAsk.get(pool) ?? [])]
      this.#toAsk.delete(pool)
      // PostgreSQL may be away; then the leader looks again when it is back.
      void this.#carrier.ask(pool, asked).catch((error: unknown) => this.#judge(error))
    })
  }

  async #bring(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve)) // callers of the same moment come along
    const ids = [...this.#toBring]
    this.#toBring.clear()
    await this.#carrier.bring(ids).catch((error: unknown) => this.#judge(error))
    this.#bringing = undefined
    if (this.#toBring.size > 0 && this.#up) this.#bringing = this.#bring()
  }

  /** Trouble of PostgreSQL is not Redis's, and the next look makes it good. */
  #judge(error: unknown): void {
    if (isRedisTrouble(error)) this.#goDown(error)
    else if (!this.#stopped) this.#options.log.warn('an offer was not brought to Redis', { reason: String(error) })
  }

  #lookAt(pool: string): void {
    for (const [name, tender] of this.#tenders) if (pool === '*' || pool === name) tender.look()
  }

  #connect(): Promise<void> {
    if (this.#stopped) return Promise.resolve()
    this.#connecting ??= this.#makeClients()
    return this.#connecting
  }

  async #makeClients(): Promise<void> {
    const { url } = this.#options
    this.#client = await makeClient(url, answerMsMax)
    loadScripts(this.#client)
    this.#news = await makeClient(url, answerMsMax)
    this.#news.on('message', (channel: string, message: string) => this.#hearNews(channel, message))
    this.#client.on('ready', () => void this.#rise())
    this.#client.on('close', () => this.#goDown(new Error('the connection to Redis was closed')))
    if (this.#stopped) return
    await Promise.all([this.#client.connect(), this.#news.connect()]).catch((error: unknown) => this.#goDown(error))
  }

  /** Redis answers and takes what is written to it: from now on it dispatches. */
  #rise(): Promise<void> {
    this.#rising ??= this.#comeUp().finally(() => {
      this.#rising = undefined
    })
    return this.#rising
  }

  async #comeUp(): Promise<void> {
    if (this.#stopped || this.#up) return
    try {
      this.#installation ||= await readInstallation(this.#options.database)
      for (const pool of this.#pools) {
        await this.#prepare(pool)
        await this.#connected().set(`${this.#prefix(pool)}seen`, this.#consumer, 'PX', this.#options.leaseMs)
        await this.#subscribe(pool)
        if (!this.#tenders.has(pool)) this.#tenders.set(pool, this.#makeTender(pool))
      }
    } catch (error) {
      this.#goDown(error)
      return
    }
    if (this.#stopped) return
    this.#up = true
    this.#instead = undefined
    this.#retryMs = retryMsMin
    this.#options.log.info('Redis dispatches', { pools: this.#pools.join(' ') })
    this.#options.onChanged?.('redis', undefined)
    for (const tender of this.#tenders.values()) tender.start()
    for (const supply of this.#supplies) supply.switched()
  }

  #goDown(error: unknown): void {
    if (this.#stopped) return
    const reason = error instanceof Error ? error.message : String(error)
    const wasUp = this.#up
    this.#up = false
    this.#instead = reason
    this.#retry?.cancel()
    this.#retry = this.#options.clock.after(this.#retryMs, () => {
      if (this.#client?.status === 'ready') void this.#rise()
      // else its own 'ready' comes when it is back
    })
    this.#retryMs = Math.min(this.#retryMs * 2, retryMsMax)
    if (!wasUp) return
    this.#options.log.warn('Redis is away, PostgreSQL dispatches', { reason })
    this.#options.onChanged?.('postgres', reason)
    for (const tender of this.#tenders.values()) tender.rest()
    for (const supply of this.#supplies) supply.switched()
  }

  #makeTender(pool: string): Tender {
    const { database, clock, leaseMs, name, onTakenOver } = this.#options
    return new Tender({
      pool,
      prefix: this.#prefix(pool),
      holder: `${name}:${this.#consumer}`,
      lockMs: leaseMs,
      database,
      clock,
      client: () => this.#connected(),
      carrier: this.#carrier,
      prepare: () => this.#prepare(pool),
      refuse: (refused) => this.refuse(pool, refused),
      onTakenOver: (jobs) => onTakenOver?.(pool, jobs),
      onTrouble: (error) => {
        if (isGroupGone(error)) void this.trouble(pool, error)
        else this.#judge(error)
      },
    })
  }

  /** From id 0: whatever is in the stream is for somebody. That the group is there already is fine. */
  async #prepare(pool: string): Promise<void> {
    for (const one of classes)
      await this.#connected()
        .xgroup('CREATE', streamOf(this.#prefix(pool), one), group, '0', 'MKSTREAM')
        .catch((error: unknown) => {
          if (!String(error).includes('BUSYGROUP')) throw error
        })
  }

  async #subscribe(pool: string): Promise<void> {
    if (this.#news?.status === 'ready') await this.#news.subscribe(newsOf(this.#prefix(pool)))
  }

  #hearNews(channel: string, message: string): void {
    const [topic, ms] = message.split(':')
    for (const [pool, tender] of this.#tenders) {
      if (newsOf(this.#prefix(pool)) !== channel) continue
      if (topic === 'due') tender.hearDue(Number(ms) - this.#options.clock.now())
      else tender.look()
    }
  }

  async #blockingClient(pool: string): Promise<Client> {
    let client = this.#blocking.get(pool)
    if (!client) {
      client = await makeClient(this.#options.url, blockMs + answerMsMax)
      this.#blocking.set(pool, client)
    }
    if (client.status !== 'ready')
      await client.connect().catch((error: unknown) => {
        if (client.status !== 'ready') throw error
      })
    return client
  }
}

/** FLUSHALL, XGROUP DESTROY, DEL, a restart without persistence: the group is made again and the leader looks. */
function isGroupGone(error: unknown): boolean {
  return /NOGROUP|no such key|unblocked/i.test(String(error))
}

function isRedisTrouble(error: unknown): boolean {
  return (
    error instanceof Error &&
    (/ReplyError|MaxRetries|AbortError/.test(error.name) ||
      /Redis|Command timed out|Connection is closed|writeable/.test(error.message))
  )
}
