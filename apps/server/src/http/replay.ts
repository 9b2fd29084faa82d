/**
 * Idempotency-Key: a POST that is repeated with the same key gets the first answer, and nothing happens twice.
 *
 * The key is taken by one statement, so of any number of processes one acts. Who took it has a fence. A route that adds something hands its
 * transaction to `settle`, which stores the answer under that fence: what was added and the answer commit together, so a process that dies in
 * between leaves either both or nothing, and one that was taken over from adds nothing. Other routes are such that doing them again is the same as
 * doing them once; their answer is stored after the deed. Only answers that did something are kept: a refusal lets the key go.
 */
import { createHash } from 'node:crypto'
import type { Engine, TransactionClient } from '@sluice/engine'
import type { FastifyRequest } from 'fastify'
import sql, { type Sql } from 'sql-template-tag'
import type { Caller } from '../access/caller.ts'
import { refuse } from './problem.ts'

/** An answer, and how it is written. */
export interface Kept {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body as it is sent. */
  readonly text: string
}

interface Taken {
  readonly caller: string
  readonly key: string
  readonly fence: number
}

interface Begun {
  readonly mine: boolean
  readonly fence: number
  readonly same: boolean | null
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly answer: string | null
}

export class Replays {
  readonly #engine: Engine
  readonly #underWay: string
  readonly #keep: string
  readonly #taken = new WeakMap<FastifyRequest, Taken>()

  constructor(engine: Engine, limits: { readonly answerMsMax: number; readonly replayMsMax: number }) {
    this.#engine = engine
    // Whoever takes longer has been answered with 504 long ago; if it still lives, its fence is old.
    this.#underWay = `${2 * limits.answerMsMax} milliseconds`
    this.#keep = `${limits.replayMsMax} milliseconds`
  }

  /** Acts, or gives the answer of whoever did. */
  async once<T>(
    request: FastifyRequest,
    caller: Caller,
    { act, write }: { act: () => Promise<T>; write: (answer: T) => Kept },
  ): Promise<T | { readonly replayed: Kept }> {
    const key = request.headers['idempotency-key']
    if (typeof key !== 'string') return act()
    const who = { caller: `${caller.kind}:${caller.id}`, key }
    const begun = await this.#begin(who, digestOf(request))
    if (!begun.mine) return { replayed: readAnswer(begun) }
    const taken = { ...who, fence: begun.fence }
    this.#taken.set(request, taken)
    try {
      const answer = await act()
      if (this.#taken.has(request)) await this.#store(this.#engine, taken, write(answer))
      return answer
    } catch (error) {
      await this.#release(taken).catch(() => {}) // it is let go by itself when its time is over
      throw error
    }
  }

  /** Adds something and keeps the answer, in one transaction. Without a key there is no transaction but that of the addition. */
  async settle<T>(
    request: FastifyRequest,
    { add, write }: { add: (client: TransactionClient | undefined) => Promise<T>; write: (answer: T) => Kept },
  ): Promise<T> {
    const taken = this.#taken.get(request)
    if (!taken) return add(undefined)
    const answer = await this.#engine.transaction(async (tx) => {
      const added = await add(tx)
      const held = await this.#store({ query: ({ text, values }) => tx.query(text, values) }, taken, write(added))
      if (!held) throw refuse('IDEMPOTENCY_UNDER_WAY')
      return added
    })
    this.#taken.delete(request)
    return answer
  }

  async #begin({ caller, key }: Omit<Taken, 'fence'>, request: Buffer): Promise<Begun> {
    const { rows } = await this.#engine.query<Begun>(
      sql`select * from sluice.begin_request(${caller}, ${key}, ${request}, ${this.#underWay}::interval)`,
    )
    return rows[0] as Begun
  }

  async #store(
    on: { query(statement: Sql): Promise<{ rows: readonly unknown[] }> },
    { caller, key, fence }: Taken,
    { status, headers, text }: Kept,
  ): Promise<boolean> {
    const { rows } = await on.query(sql`
      update sluice.idempotency
      set status = ${status}, headers = ${JSON.stringify(headers)}::jsonb, answer = ${text}, until = sluice.now() + ${this.#keep}::interval
      where caller = ${caller} and key = ${key} and fence = ${fence}
      returning 1`)
    return rows.length > 0
  }

  async #release({ caller, key, fence }: Taken): Promise<void> {
    await this.#engine.query(
      sql`delete from sluice.idempotency where caller = ${caller} and key = ${key} and fence = ${fence} and status is null`,
    )
  }
}

function readAnswer({ same, status, headers, answer }: Begun): Kept {
  if (same === false) throw refuse('IDEMPOTENCY_KEY_REUSED')
  // Nothing there: the first one was refused this moment, and its key is free again.
  if (status === null || answer === null) throw refuse('IDEMPOTENCY_UNDER_WAY')
  return { status, headers: { ...headers, 'idempotency-replayed': 'true' }, text: answer }
}

function digestOf({ method, url, body }: FastifyRequest): Buffer {
  return createHash('sha256')
    .update(`${method} ${url}\n${JSON.stringify(body) ?? ''}`)
    .digest()
}
