/**
 * Dispatch by Redis: ids travel through streams, one for each pool and class of priority, and every claim is made by id in PostgreSQL, which decides.
 *
 * Redis holds nothing that cannot be made again from PostgreSQL. When it is away, full or does not answer, this process goes on over PostgreSQL at once, says so
 * in its status, and comes back by itself; whatever Redis missed meanwhile is brought by the leader of each pool. docs/redis.md draws the way of an id.
 */
import type { Database } from '../../postgres/database.ts'
import type { Clock } from '../../support/clock.ts'
import type { Observer } from '../../support/fact.ts'
import type { Log } from '../../support/log.ts'
import type { Demand, Dispatcher, DispatchStatus, Door, Found, Offer, Over, PoolInDispatch, Supply } from '../dispatcher.ts'
import { PostgresDispatcher } from '../postgres/postgres-dispatcher.ts'
import { Notice } from '../processes.ts'
import { Carrier } from './carrier.ts'
import { type Offered, readInstallation } from './claim-ids.ts'
import { classes, group, newsOf, prefixOf, streamOf } from './keys.ts'
import { Link } from './link.ts'
import { measurePool } from './measure-pool.ts'
import { RedisSupply } from './redis-supply.ts'
import { StreamSource } from './stream-source.ts'
import { Tender } from './tender.ts'
import { isRedisTrouble } from './trouble.ts'

export interface RedisDispatcherOptions {
  readonly url: string
  readonly prefix: string
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly leaseMs: number
  readonly priorityStepMs: () => number
  readonly name: string
  readonly tell: Observer
}

const comesBack = new Set(['retry', 'snooze', 'handed back'])

export class RedisDispatcher implements Dispatcher {
  readonly #options: RedisDispatcherOptions
  readonly #postgres: PostgresDispatcher
  readonly #link: Link
  readonly #carrier: Carrier
  readonly #source: StreamSource
  readonly #notice: Notice
  readonly #tenders = new Map<string, Tender>()
  readonly #supplies = new Map<string, RedisSupply>()
  readonly #toBring = new Set<number>()
  readonly #toAsk = new Map<string, Set<string>>()
  #installation = ''
  #consumer = ''
  #pools: readonly string[] = []
  #bringing = false
  #stopped: Promise<void> | undefined

  constructor(options: RedisDispatcherOptions) {
    const { url, database, clock, log } = options
    const prefix = (pool: string): string => this.#prefix(pool)
    this.#options = options
    this.#notice = new Notice(database, log)
    this.#postgres = new PostgresDispatcher(database, clock)
    this.#link = new Link({
      url,
      clock,
      prepare: () => this.#prepareAll(),
      onSwitched: (up, instead) => this.#switched(up, instead),
      onNews: (channel, message) => this.#hearNews(channel, message),
      onGroupGone: (error) => {
        for (const pool of this.#pools) void this.#source.trouble(pool, error)
      },
      // The next look makes it good.
      onOther: (error) => log.warn('an offer was not brought to Redis', { reason: String(error) }),
    })
    this.#carrier = new Carrier({ database, client: () => this.#link.client, prefix, nowMs: () => clock.now() })
    this.#source = new StreamSource({
      link: this.#link,
      database,
      clock,
      prefix,
      consumer: () => this.#consumer,
      prepare: (pool) => this.#prepare(pool),
      ask: (pool, lanes) => this.#ask(pool, lanes),
    })
  }

  get status(): DispatchStatus {
    const { up, instead, since } = this.#link
    return { by: up ? 'redis' : 'postgres', instead, since, leads: [...this.#tenders.values()].some((tender) => tender.leads) }
  }

  get announces(): boolean {
    if (!this.#stopped) void this.#link.connect()
    return this.#link.up
  }

  async start(door: Door, pools: readonly string[]): Promise<void> {
    this.#pools = pools
    this.#consumer = `worker:${door.worker()}`
    this.#source.forget()
    await this.#link.connect()
    // An engine that enqueued before it was started is up already, without pools.
    if (pools.some((pool) => !this.#tenders.has(pool))) await this.#link.refresh()
    await this.#notice.put(this.status, door.worker())
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#leave()
    return this.#stopped
  }

  supply(demand: Demand, door: Door): Supply {
    const supply = new RedisSupply(demand, door, this.#source, (pool) => this.#postgres.supply(pool, door))
    this.#supplies.set(demand.name, supply)
    return supply
  }

  offer(jobs: readonly Offer[]): void {
    if (!this.#link.up) return
    const { clock, priorityStepMs } = this.#options
    const plain = new Map<string, Offered[]>()
    for (const { id, facts } of jobs) {
      if (!facts) {
        this.#toBring.add(id)
        continue
      }
      const rank = Math.round(clock.now() - facts.priority * priorityStepMs())
      const offered = {
        id,
        kind: facts.kind,
        pool: facts.pool,
        lane: '',
        priority: facts.priority,
        rank,
        cost: 1,
        dueMs: undefined,
      }
      const others = plain.get(facts.pool)
      if (others) others.push(offered)
      else plain.set(facts.pool, [offered])
    }
    for (const [pool, offered] of plain) this.#link.send(() => this.#carrier.offer(pool, offered))
    if (this.#toBring.size > 0) this.#bring()
  }

  acknowledge(over: readonly Over[]): void {
    const back = over
      .filter(({ verdict }) => comesBack.has(verdict.outcome))
      .map(({ claim }) => ({ id: claim.id, facts: undefined }))
    const acknowledging = this.#source.acknowledge(over)
    this.#link.send(async () => {
      await acknowledging
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
    void this.#notice.put(this.status)
  }

  async measure(pools: readonly string[]): Promise<PoolInDispatch[]> {
    await this.#link.connect()
    if (!this.#link.up) return []
    try {
      return await Promise.all(pools.map((pool) => measurePool(this.#link.client, this.#prefix(pool), pool)))
    } catch (error) {
      if (!isRedisTrouble(error)) throw error
      this.#link.down(error)
      return []
    }
  }

  async #leave(): Promise<void> {
    await this.#link.drained()
    await Promise.all([...this.#tenders.values()].map((tender) => tender.resign()))
    await this.#link.stop()
    await this.#notice.done
  }

  #prefix(pool: string): string {
    return prefixOf(this.#options.prefix, this.#installation, pool)
  }

  #lookAt(pool: string): void {
    for (const [name, tender] of this.#tenders) if (pool === '*' || pool === name) tender.look()
  }

  /** Callers of the same moment are asked for together. */
  #ask(pool: string, lanes: readonly string[]): void {
    if (lanes.length === 0) return
    const waiting = this.#toAsk.get(pool)
    for (const lane of waiting ? lanes : []) waiting?.add(lane)
    if (waiting) return
    this.#toAsk.set(pool, new Set(lanes))
    this.#link.send(async () => {
      await new Promise<void>((resolve) => setImmediate(resolve))
      const asked = [...(this.#toAsk.get(pool) ?? [])]
      this.#toAsk.delete(pool)
      await this.#carrier.ask(pool, asked)
    })
  }

  #bring(): void {
    if (this.#bringing) return
    this.#bringing = true
    this.#link.send(async () => {
      await new Promise<void>((resolve) => setImmediate(resolve))
      const ids = [...this.#toBring]
      this.#toBring.clear()
      await this.#carrier.bring(ids).finally(() => {
        this.#bringing = false
      })
      if (this.#toBring.size > 0) this.#bring()
    })
  }

  async #prepareAll(): Promise<void> {
    this.#bringing = false
    this.#toAsk.clear()
    this.#installation ||= await readInstallation(this.#options.database)
    await Promise.all(this.#pools.map((pool) => this.#preparePool(pool)))
  }

  async #preparePool(pool: string): Promise<void> {
    const prefix = this.#prefix(pool)
    await Promise.all([
      this.#prepare(pool),
      // A Redis that is full answers, and takes nothing.
      this.#link.client.set(`${prefix}seen`, this.#consumer, 'PX', this.#options.leaseMs),
      this.#link.subscribe(newsOf(prefix)),
    ])
    if (!this.#tenders.has(pool)) this.#tenders.set(pool, this.#makeTender(pool))
  }

  /** From id 0: whatever is in the stream is for somebody. That the group is there already is fine. */
  async #prepare(pool: string): Promise<void> {
    const prefix = this.#prefix(pool)
    const make = async (one: number): Promise<void> => {
      try {
        await this.#link.client.xgroup('CREATE', streamOf(prefix, one), group, '0', 'MKSTREAM')
      } catch (error) {
        if (!String(error).includes('BUSYGROUP')) throw error
      }
    }
    await Promise.all(classes.map(make))
  }

  #switched(up: boolean, instead: string | undefined): void {
    this.#options.tell({ type: 'dispatch.changed', by: up ? 'redis' : 'postgres', reason: instead })
    for (const tender of this.#tenders.values()) {
      if (up) tender.start()
      else tender.rest()
    }
    for (const supply of this.#supplies.values()) supply.switched()
    void this.#notice.put(this.status)
  }

  #makeTender(pool: string): Tender {
    const { database, clock, tell, leaseMs, name } = this.#options
    return new Tender({
      pool,
      prefix: this.#prefix(pool),
      holder: `${name}:${this.#consumer}`,
      lockMs: leaseMs,
      database,
      clock,
      client: () => this.#link.client,
      carrier: this.#carrier,
      prepare: () => this.#prepare(pool),
      refuse: (refused) => this.#source.refuse(pool, refused),
      onTakenOver: (jobs) => tell({ type: 'dispatch.taken-over', pool, jobs }),
      onTrouble: (error) => this.#link.judge(error),
    })
  }

  #hearNews(channel: string, message: string): void {
    const [topic, ms] = message.split(':')
    for (const [pool, tender] of this.#tenders) {
      if (newsOf(this.#prefix(pool)) !== channel) continue
      if (topic === 'free') tender.hearFree()
      else if (topic === 'due') tender.hearDue(Number(ms) - this.#options.clock.now())
      else if (topic === 'strange') this.#supplies.get(pool)?.hearStrange()
      else tender.look()
    }
  }
}
