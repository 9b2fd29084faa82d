/**
 * The connections of one process.
 *
 * Five sorts, so that none waits behind another: `hot` carries claims and grouped settles, `intake` single enqueues, and both keep their connections in hand; `pool`
 * carries what users and handlers write, `look` what people look at, and the heartbeat and the listener each have a client of their own. Statements are named, so that the
 * server plans them once; behind a pooler that forbids this, the first complaint turns names off for good.
 */
import pg from 'pg'
import type { Sql } from 'sql-template-tag'
import { systemClock } from '../support/clock.ts'
import { SluiceError } from '../support/errors.ts'
import type { Log } from '../support/log.ts'
import { type AnswerLimit, answered, cut } from './answers.ts'
import { call, type Statement } from './call.ts'
import type { Executor, Rows } from './client.ts'
import { checkUrl, explainConnect, explained } from './connect.ts'
import { KeptConnections } from './kept-connections.ts'
import { Patience } from './patience.ts'
import { sqlState } from './transient.ts'

export interface DatabaseOptions {
  readonly url: string
  readonly poolMax: number
  readonly prepare: boolean
  readonly log: Log
  /** For claims, settles, single enqueues, and the begin and the end of transactions, none of which waits for somebody who keeps a transaction open. Default: they wait for ever. */
  readonly answers?: AnswerLimit
  /** How long a look may take. Default 5 s. */
  readonly lookMsMax?: number
  /** Runs on each new connection before anybody uses it; the testing kit turns the clock there. */
  readonly onConnect?: (client: pg.ClientBase) => Promise<void>
}

export type { Statement } from './call.ts'

export interface Transaction {
  readonly client: pg.ClientBase
  /** What the opening statement found. */
  readonly found: readonly unknown[][]
  /** Waits for statements of ours, which are short: without an answer in time the connection is cut. What users ask may take as long as it takes. */
  answered<T>(asked: Promise<T>): Promise<T>
  /** Sends a last statement without parameters together with the commit, and answers its rows. */
  commitWith(statement: string): Promise<unknown[][]>
}

/** What carries a statement. */
export type Carrier = KeptConnections | pg.Pool | pg.ClientBase

// ids, fences and ranks stay below 2⁵³ (a fence is microseconds since 1970, which gets there in the year 2255)
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary'): unknown =>
    oid === 20 ? Number : oid === bigintArray ? parseIds : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** Several statements in one message; the rows of one of them, counted from the end. */
async function ask(client: pg.ClientBase, text: string, at = -1): Promise<unknown[][]> {
  const results = (await client.query({ text, rowMode: 'array' })) as unknown as pg.QueryArrayResult[]
  return results.at(at)?.rows ?? []
}

const bigintArray: number = 1016
type Ids = (number | null | Ids)[]

/** Mostly a plain list of ours, read at once; a user's own statement may answer with gaps, or lists in lists. */
function parseIds(text: string): Ids {
  if (/^\{[-\d,]*\}$/.test(text)) return JSON.parse(`[${text.slice(1, -1)}]`) as number[]
  const parse = pg.types.getTypeParser(bigintArray, 'text') as (text: string) => unknown[]
  return toNumbers(parse(text))
}

function toNumbers(texts: unknown[]): Ids {
  return texts.map((one) => (one === null ? null : Array.isArray(one) ? toNumbers(one) : Number(one)))
}

const hotConnectionsMax = 4
const intakeConnectionsMax = 2
const lookConnectionsMax = 4
const connectTimeoutMs = 10_000
const defaultLookMsMax = 5_000
/** Where no limit cuts a statement that a user waits for, at least a peer that is gone is noticed. */
const keepAliveMs = 10_000

export class Database implements Executor {
  readonly hot: KeptConnections
  readonly intake: KeptConnections
  readonly pool: pg.Pool
  /** Statements that only read, each with a time limit: what people ask for cannot hold up work, whatever they ask. */
  readonly looking: Executor = { query: (statement) => this.#look(statement) }
  /** For what a process says of itself when it comes: over the connection that its single enqueues use, so that the first of them need not open one. */
  readonly viaIntake: Executor = { query: (statement) => this.#queryIntake(statement) }
  readonly #patience: Patience
  readonly #lookPool: pg.Pool
  readonly #options: DatabaseOptions
  readonly #clients = new Set<pg.ClientBase>()
  readonly #isCut: Promise<void>
  #tellCut = (): void => {}
  #left = false
  #closing = false
  #prepare: boolean

  constructor(options: DatabaseOptions) {
    checkUrl(options.url)
    this.#options = options
    this.#prepare = options.prepare
    this.#isCut = new Promise((resolve) => {
      this.#tellCut = resolve
    })
    const verify = options.onConnect === undefined ? {} : { onConnect: options.onConnect }
    const hot = new pg.Pool({ ...this.#config('hot'), max: hotConnectionsMax, ...verify })
    const intake = new pg.Pool({ ...this.#config('intake'), pipeline: true, max: intakeConnectionsMax, ...verify })
    const onLost = (error: Error): void => this.#tellLost(error)
    this.hot = new KeptConnections(this.#quiet(hot), { onLost, answers: options.answers })
    this.intake = new KeptConnections(this.#quiet(intake), { onLost, answers: options.answers, callsMax: 2 })
    this.pool = this.#quiet(new pg.Pool({ ...this.#config('pool'), max: options.poolMax, idleTimeoutMillis: 30_000, ...verify }))
    this.#patience = new Patience(this.pool, options.poolMax, systemClock)
    this.#lookPool = this.#quiet(
      new pg.Pool({ ...this.#config('look'), max: lookConnectionsMax, idleTimeoutMillis: 30_000, ...verify }),
    )
  }

  /** A connection of one's own, not from a pool. The owner ends it. */
  async client(purpose: string): Promise<pg.Client> {
    const client = new pg.Client(this.#config(purpose))
    client.on('error', () => {}) // the owner hears of it by 'end'
    this.#watch(client)
    await client.connect()
    await this.#options.onConnect?.(client)
    return client
  }

  async query<R>(statement: Sql): Promise<Rows<R>> {
    const { rows } = await this.pool.query(statement.text, statement.values).catch(explained)
    return { rows: rows as R[] }
  }

  /** Sends a named statement and gives rows as arrays, which costs half of what objects do. */
  async send<R extends unknown[]>(on: Carrier, statement: Statement, values: unknown[]): Promise<R[]> {
    if (this.#left) throw new Error('Connection terminated: this process has left')
    const named = this.#prepare // several may be under way when the first of them hears that names do not work
    try {
      if (!(on instanceof KeptConnections)) return await this.#ask<R>(on, statement, values)
      const taken = on.take()
      const client = taken instanceof Promise ? await taken : taken
      try {
        const rows = await this.#ask<R>(client, statement, values)
        on.giveBack(client)
        return rows
      } catch (error) {
        on.giveBack(client, error)
        throw error
      }
    } catch (error) {
      if (!named || !isNameTrouble(error)) throw error
      if (this.#prepare) this.#options.log.warn('prepared statements are off', { reason: 'the pooler does not keep them' })
      this.#prepare = false
      // Inside a transaction the complaint has aborted everything: whoever owns it starts again, now without names.
      return this.send<R>(on, statement, values).catch((second: unknown) => {
        throw sqlState(second) === '25P02' ? error : second
      })
    }
  }

  #ask<R extends unknown[]>(on: pg.Pool | pg.ClientBase, { name, text }: Statement, values: unknown[]): Promise<R[]> {
    if (this.#prepare && !(on instanceof pg.Pool)) return call<R>(on, { name, text }, values, types)
    return on.query<R>({ ...(this.#prepare ? { name } : {}), text, values, rowMode: 'array' }).then(({ rows }) => rows)
  }

  /**
   * Whoever falls asleep in the middle loses the transaction, so that its locks do not outlive its lease. `opening`, a statement without parameters, travels with the
   * begin.
   */
  async transaction<T>(idleMsMax: number, act: (transaction: Transaction) => Promise<T>, opening = ''): Promise<T> {
    const client = await this.#patience.connect().catch(explained)
    const inTime = <A>(asked: Promise<A>): Promise<A> => answered(client, this.#options.answers, asked)
    let broken: Error | undefined
    let over = false
    try {
      const begin = `begin; set local idle_in_transaction_session_timeout = ${Math.ceil(idleMsMax)}; ${opening}`
      const found = await inTime(ask(client, begin)).catch(explained)
      const result = await act({
        client,
        found,
        answered: inTime,
        async commitWith(statement) {
          const rows = await inTime(ask(client, `${statement}; commit`, -2))
          over = true
          return rows
        },
      })
      if (!over) await inTime(client.query('commit')).catch(explained)
      return result
    } catch (error) {
      await inTime(client.query('rollback')).catch((trouble: Error) => {
        broken = trouble
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  /** Waits for whoever uses a connection, but not for one that was cut: a handler that hangs never gives its own back. */
  async close(): Promise<void> {
    this.#closing = true
    const ended = Promise.all([this.hot.end(), this.intake.end(), this.pool.end(), this.#lookPool.end()])
    await Promise.race([ended, this.#isCut])
  }

  async #queryIntake<R>(statement: Sql): Promise<Rows<R>> {
    const client = await this.intake.take()
    try {
      const { rows } = await client.query(statement.text, statement.values)
      this.intake.giveBack(client)
      return { rows: rows as R[] }
    } catch (error) {
      this.intake.giveBack(client, error)
      throw error
    }
  }

  /** The limit is set inside a transaction, so that behind a pooler it cannot stay on a connection that others get. */
  async #look<R>(statement: Sql): Promise<Rows<R>> {
    const limitMs = this.#options.lookMsMax ?? defaultLookMsMax
    const client = await this.#lookPool.connect().catch(explained)
    let broken: Error | undefined
    try {
      await client.query(`begin read only; set local statement_timeout = ${limitMs}`)
      const { rows } = await client.query(statement.text, statement.values)
      await client.query('commit')
      return { rows: rows as R[] }
    } catch (error) {
      await client.query('rollback').catch((trouble: Error) => {
        broken = trouble
      })
      throw sqlState(error) === '57014' ? new SluiceError('LOOK_TOO_LONG', { limitMs }, error) : explainConnect(error)
    } finally {
      client.release(broken)
    }
  }

  /** This process has cut its connections: nothing is sent any more. */
  get left(): boolean {
    return this.#left
  }

  /** Drops every connection, answered or not, and sends nothing more: for a process that leaves, and a server or a handler that has gone silent. */
  cut(): void {
    this.#left = true
    this.#tellCut()
    for (const client of this.#clients) cut(client)
  }

  #watch(client: pg.ClientBase): void {
    this.#clients.add(client)
    client.once('end', () => this.#clients.delete(client))
  }

  #config(purpose: string): pg.ClientConfig {
    return {
      connectionString: this.#options.url,
      application_name: `sluice ${purpose}`,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
      types,
    }
  }

  #tellLost(error: Error): void {
    if (!this.#closing && !this.#left) this.#options.log.info('idle connection lost', { reason: error.message })
  }

  #quiet(pool: pg.Pool): pg.Pool {
    // An idle connection that breaks is replaced by the next query; without a listener Node would end the process.
    // A pool that has ended has not closed its connections yet: a server that stops meanwhile says goodbye on them, which is no loss.
    pool.on('error', (error) => this.#tellLost(error))
    // The same while a transaction holds it: its statements fail by themselves.
    pool.on('connect', (client) => {
      client.on('error', () => {})
      this.#watch(client)
    })
    return pool
  }
}

/** 26000: no such statement; 42P05: it exists already; 08P01 and 0A000: poolers that refuse names outright, which are codes of much else. */
function isNameTrouble(error: unknown): boolean {
  const state = sqlState(error) ?? ''
  if (['26000', '42P05'].includes(state)) return true
  return ['08P01', '0A000'].includes(state) && error instanceof Error && /prepared statement/i.test(error.message)
}
