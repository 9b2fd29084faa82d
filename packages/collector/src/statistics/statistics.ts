/**
 * Statistics, as people read them: a user's newest ones and their history, the whole, and who leads.
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
import sql, { empty, raw } from 'sql-template-tag'
import { z } from 'zod'
import { findLiveCollection } from '../collection/collection.ts'
import { CollectorError } from '../errors.ts'
import { countDeeds } from './deeds.ts'
import { formulaVersion, score } from './score.ts'
import {
  type GlobalStatistics,
  selectGlobalStatistics,
  selectUserStatistics,
  storeGlobalStatistics,
  storeUserStatistics,
  type UserStatistics,
} from './statistics-store.ts'

export interface Standing extends UserStatistics {
  /** 1 for the first. */
  readonly rank: number
}

export const leaderBys = ['score', 'activity', 'impact'] as const

export type LeaderBy = (typeof leaderBys)[number]

/** The last one of the page before: its value, its id, its rank. */
const leaderPlace = z.tuple([z.number(), z.int().min(1), z.int().min(1)])

export class Statistics {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async user(userId: number): Promise<UserStatistics | undefined> {
    return (await selectUserStatistics(this.#engine, sql`where s.user_id = ${userId} and s.newest`))[0]
  }

  /** Newest run first. */
  async history(userId: number, page: Page = {}): Promise<Listed<UserStatistics>> {
    const { limit, at } = readPage('collector.history', page, idPlace)
    const before = at === undefined ? empty : sql`and s.run < ${at}`
    const rows = await selectUserStatistics(
      this.#engine,
      sql`where s.user_id = ${userId} ${before} order by s.run desc limit ${limit + 1}`,
    )
    return pageOf('collector.history', rows, limit, ({ run }) => run)
  }

  async global(): Promise<GlobalStatistics | undefined> {
    return (await selectGlobalStatistics(this.#engine, sql`order by run desc limit 1`))[0]
  }

  /** Newest run first. */
  async globalHistory(page: Page = {}): Promise<Listed<GlobalStatistics>> {
    const { limit, at } = readPage('collector.global-history', page, idPlace)
    const before = at === undefined ? empty : sql`where run < ${at}`
    const rows = await selectGlobalStatistics(this.#engine, sql`${before} order by run desc limit ${limit + 1}`)
    return pageOf('collector.global-history', rows, limit, ({ run }) => run)
  }

  /** Whoever keeps the same value keeps the place between two pages, whatever others do meanwhile. Equals are in the order of their ids. */
  async leaderboard({ by = 'score', page = {} }: { by?: LeaderBy; page?: Page } = {}): Promise<Listed<Standing>> {
    if (!leaderBys.includes(by))
      throw new CollectorError('INVALID_REQUEST', { field: 'by', problem: `must be one of ${leaderBys.join(', ')}` })
    const list = `collector.leaders.${by}`
    const { limit, at } = readPage(list, page, leaderPlace)
    const value = raw(`s.${by}`)
    const below = at === undefined ? empty : sql`and (${value} < ${at[0]} or (${value} = ${at[0]} and s.user_id > ${at[1]}))`
    const rows = await selectUserStatistics(
      this.#engine,
      sql`where s.newest ${below} order by ${value} desc, s.user_id limit ${limit + 1}`,
    )
    const standings = rows.map((row, index) => ({ ...row, rank: (at?.[2] ?? 0) + index + 1 }))
    return pageOf(list, standings, limit, (last) => [last[by], last.userId, last.rank])
  }

  /** From what is stored now, on the caller's transaction; a second time for the same run it replaces the first. */
  async compute(tx: TransactionClient, userId: number, run: number): Promise<UserStatistics> {
    const collection = await findLiveCollection(onClient(tx), userId)
    if (!collection) throw new CollectorError('USER_UNKNOWN', { user: userId })
    const deeds = await countDeeds(tx, collection.id, userId)
    await storeUserStatistics(tx, { userId, run, formula: formulaVersion }, deeds, score(deeds))
    const [stored] = await selectUserStatistics(onClient(tx), sql`where s.user_id = ${userId} and s.run = ${run}`)
    return stored as UserStatistics
  }

  /** From everybody's newest statistics. Repositories are each user's own: one that two users share counts for both. */
  async computeGlobal(tx: TransactionClient, run: number): Promise<GlobalStatistics> {
    await storeGlobalStatistics(tx, run, formulaVersion)
    const [stored] = await selectGlobalStatistics(onClient(tx), sql`where run = ${run}`)
    return stored as GlobalStatistics
  }
}

function pageOf<T>(list: string, rows: readonly T[], limit: number, placeOf: (last: T) => unknown): Listed<T> {
  const items = rows.slice(0, limit)
  return { items, next: rows.length > limit ? writeCursor(list, placeOf(items.at(-1) as T)) : undefined }
}
