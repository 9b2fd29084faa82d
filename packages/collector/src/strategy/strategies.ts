/**
 * Strategies, as people switch them: for one user or for all, while everything runs. What is under way ends as it began, the next run reads by the new one, and
 * the first runs after it are watched.
 */
import {
  type Engine,
  idPlace,
  type Listed,
  onClient,
  type Page,
  readPage,
  type TransactionClient,
  writeCursor,
} from '@sluice/engine'
import { type Strategy, strategies } from '../collection/collection.ts'
import { CollectorError } from '../errors.ts'
import { chooseStrategy, findUser } from '../user/user.ts'
import { strategyForAll } from './choose.ts'
import { findNewest, insertSwitch, listSwitches, lockTarget, type Switch } from './switch.ts'

export interface StrategyInForce {
  /** What the next run reads by. */
  readonly strategy: Strategy
  /** What was chosen; null for a user that has none of its own. */
  readonly chosen: Strategy | null
  /** The newest one, if there was any. */
  readonly lastSwitch: Switch | null
}

const list = 'collector.switches'

export class Strategies {
  readonly #engine: Engine
  readonly #fallback: Strategy

  constructor(engine: Engine, fallback: Strategy = 'graphql') {
    this.#engine = engine
    this.#fallback = fallback
  }

  /** Of a user, or of all that have none of their own. */
  async current(userId: number | null = null): Promise<StrategyInForce> {
    const newest = (await findNewest(this.#engine, userId)) ?? null
    const all = await strategyForAll(this.#engine, this.#fallback)
    if (userId === null) return { strategy: all, chosen: all, lastSwitch: newest }
    const chosen = (await this.#user(userId)).strategy
    return { strategy: chosen ?? all, chosen, lastSwitch: newest }
  }

  /** For all that have none of their own. */
  async switchAll(strategy: Strategy, reason?: string): Promise<StrategyInForce> {
    check(strategy)
    await this.#engine.transaction(async (tx) => {
      await lockTarget(tx, null)
      const from = await this.#inForce(tx)
      if (from === strategy) return
      const made = { userId: null, previous: from, chosen: strategy, from, to: strategy }
      await insertSwitch(tx, { ...made, madeBy: 'person', reason: reason ?? null })
    })
    return this.current()
  }

  /** null: the one for all again. */
  async switchUser(userId: number, strategy: Strategy | null, reason?: string): Promise<StrategyInForce> {
    if (strategy !== null) check(strategy)
    await this.#user(userId)
    await this.#engine.transaction(async (tx) => {
      await lockTarget(tx, userId)
      const previous = (await this.#user(userId, tx)).strategy
      if (previous === strategy) return
      const all = await this.#inForce(tx)
      const made = { userId, previous, chosen: strategy, from: previous ?? all, to: strategy ?? all }
      await insertSwitch(tx, { ...made, madeBy: 'person', reason: reason ?? null })
      await chooseStrategy(tx, userId, strategy)
    })
    return this.current(userId)
  }

  /** Newest first: of a user, or those for all. */
  async history(userId: number | null = null, page: Page = {}): Promise<Listed<Switch>> {
    const { limit, at } = readPage(list, page, idPlace)
    const rows = await listSwitches(this.#engine, userId, at, limit + 1)
    const items = rows.slice(0, limit)
    return { items, next: rows.length > limit ? writeCursor(list, items.at(-1)?.id) : undefined }
  }

  #inForce(tx: TransactionClient): Promise<Strategy> {
    return strategyForAll(onClient(tx), this.#fallback)
  }

  async #user(userId: number, tx?: TransactionClient) {
    const user = await findUser(tx ? onClient(tx) : this.#engine, userId)
    if (!user) throw new CollectorError('USER_UNKNOWN', { user: userId })
    return user
  }
}

function check(strategy: Strategy): void {
  if (!strategies.includes(strategy))
    throw new CollectorError('INVALID_REQUEST', { field: 'strategy', problem: `must be one of ${strategies.join(', ')}` })
}
