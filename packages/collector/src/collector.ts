/**
 * The collector: what people hold. It registers users, takes requests in and answers about them; what a started engine does is in the walks.
 *
 * It works on an engine that is not started, too: a request is an event, and whoever works finds it.
 */
import type { Engine, Run } from '@sluice/engine'
import type { Github } from '@sluice/github'
import { z } from 'zod'
import type { Collection, Strategy } from './collection/collection.ts'
import { Collections } from './collection/collections.ts'
import { CollectorError } from './errors.ts'
import { exportLines } from './export/export-lines.ts'
import type { ExportFormat } from './export/line.ts'
import type { ExportWhat } from './export/sources.ts'
import { findProgress, type Progress } from './progress/progress.ts'
import { collectionRequested, type Trigger, triggers } from './request/request-event.ts'
import { activeStates, ownerOf, runNames, shadowNameOf } from './request/run-names.ts'
import { Shadows } from './shadow/shadows.ts'
import { Statistics } from './statistics/statistics.ts'
import { Strategies } from './strategy/strategies.ts'
import { checkSameGithub } from './user/same-github.ts'
import { Users } from './user/users.ts'

export interface CollectorMake {
  readonly engine: Engine
  readonly github: Github
  /** The one for users that have none of their own. Default graphql. */
  readonly strategy?: Strategy
  readonly backfill: (userId: number, range: BackfillRange) => Promise<{ run: number }>
}

export interface BackfillRange {
  readonly from: Date
  readonly to: Date
  readonly slice: 'day' | 'hour'
}

export interface RequestOptions {
  /** What happened before need not be looked at; left out: where the last run ended. */
  readonly start?: Date | undefined
  readonly trigger?: Trigger | undefined
  /** A shadow; left out: the live one. */
  readonly collection?: number | undefined
}

export interface Requested {
  readonly userId: number
  readonly trigger: Trigger
  /** Its run, once it has begun, follows from this event. */
  readonly event: number
}

const optionsSchema = z.strictObject({
  start: z.date().optional(),
  trigger: z.enum(triggers).optional(),
  collection: z.int().min(1).optional(),
})

export class Collector {
  readonly users: Users
  readonly collections: Collections
  readonly statistics: Statistics
  readonly shadows: Shadows
  readonly strategies: Strategies
  readonly #engine: Engine
  readonly #github: Github
  readonly #backfill: CollectorMake['backfill']

  constructor({ engine, github, strategy, backfill }: CollectorMake) {
    this.#engine = engine
    this.#github = github
    this.#backfill = backfill
    this.users = new Users(engine, github, strategy)
    this.collections = new Collections(engine)
    this.statistics = new Statistics(engine)
    this.shadows = new Shadows(engine, github)
    this.strategies = new Strategies(engine, strategy)
  }

  /** Refused while a collection of the user is under way. Of two requests at the same moment one starts a run and the other finds it. */
  async request(userId: number, options: RequestOptions = {}): Promise<Requested> {
    const { start, trigger = 'manual', collection } = readOptions(options)
    await this.#checkUser(userId)
    const named = collection === undefined ? undefined : await this.#getCollection(userId, collection)
    const active = await this.#active(userId, named?.purpose === 'shadow' ? shadowNameOf(named.strategy) : runNames.collect)
    if (active) throw new CollectorError('COLLECTION_ACTIVE', { user: userId, run: active.id })
    const payload = { userId, trigger, start: start?.toISOString(), collection }
    const { id: event } = await this.#engine.publish(collectionRequested(payload, { owner: ownerOf(userId) }))
    return { userId, trigger, event }
  }

  /** Of the run that is under way, or of the newest one. */
  async progress(userId: number): Promise<Progress | undefined> {
    const run = (await this.#active(userId, runNames.collect)) ?? (await this.#newest(userId))
    return run && findProgress(this.#engine, userId, run.id)
  }

  async cancel(userId: number, reason?: string): Promise<'canceled' | 'not active'> {
    const active = await this.#active(userId, runNames.collect)
    const answer = active && (await this.#engine.runs.cancel(active.id, reason))
    return answer === 'canceled' ? 'canceled' : 'not active'
  }

  /** Tries the failed jobs of the newest run again; answers how many. */
  async retry(userId: number): Promise<number> {
    const run = await this.#newest(userId)
    return run ? this.#engine.runs.retryFailed(run.id) : 0
  }

  async backfill(userId: number, range: BackfillRange): Promise<{ run: number }> {
    await this.#checkUser(userId)
    return this.#backfill(userId, range)
  }

  /** Line by line, in pages, however much there is. The live collection, unless another one is named. */
  export(userId: number, what: ExportWhat, format: ExportFormat, collection?: number): AsyncIterable<string> {
    return exportLines(this.#engine, { userId, what, format, collection })
  }

  async #active(userId: number, kind: string): Promise<Run | undefined> {
    const filter = { kind, owner: ownerOf(userId), state: activeStates }
    return (await this.#engine.inspect.runs(filter, { limit: 1 })).items[0]
  }

  async #newest(userId: number): Promise<Run | undefined> {
    return (await this.#engine.runs.list({ kind: runNames.collect, owner: ownerOf(userId), limit: 1 }))[0]
  }

  async #checkUser(userId: number): Promise<void> {
    const user = await this.users.find(userId)
    if (!user) throw new CollectorError('USER_UNKNOWN', { user: userId })
    checkSameGithub(user, this.#github)
  }

  async #getCollection(userId: number, collection: number): Promise<Collection> {
    const found = await this.collections.find(collection)
    if (found?.userId !== userId) throw new CollectorError('COLLECTION_UNKNOWN', { collection })
    return found
  }
}

function readOptions(options: RequestOptions): z.output<typeof optionsSchema> {
  const read = optionsSchema.safeParse(options)
  if (read.success) return read.data
  const issue = read.error.issues[0]
  throw new CollectorError('INVALID_REQUEST', {
    field: issue?.path.join('.') || 'options',
    problem: issue?.message ?? 'is not usable',
  })
}
