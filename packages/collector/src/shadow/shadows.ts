/** Comparisons, as people start them and read what came of them. */
import { type Engine, SluiceError, type TransactionClient } from '@sluice/engine'
import type { Github } from '@sluice/github'
import { createCollection, type Strategy, strategies } from '../collection/collection.ts'
import { CollectorError } from '../errors.ts'
import { findProgress, type Progress } from '../progress/progress.ts'
import { findQuota, type Quota } from '../progress/quota.ts'
import { ownerOf } from '../request/run-names.ts'
import { checkSameGithub } from '../user/same-github.ts'
import { findUser } from '../user/user.ts'
import { countStored } from './count-stored.ts'
import { type ExpectedCost, estimateCost } from './estimate.ts'
import { findNewestShadow, insertShadow, insertSide, type Shadow } from './shadow.ts'
import { shadowRunOf } from './shadow-run.ts'

export interface ShadowOptions {
  /** Two of them. Default graphql and rest. */
  readonly strategies?: readonly Strategy[] | undefined
  /** The collections stay after the report, to be exported or looked at. Default false. */
  readonly keep?: boolean | undefined
}

/** What a comparison would cost. */
export interface ShadowOutlook {
  readonly sides: readonly ExpectedCost[]
  readonly quota: readonly Quota[]
}

export interface ShadowProgress {
  readonly shadow: Shadow
  /** Those whose runs are remembered. */
  readonly sides: readonly { readonly strategy: Strategy; readonly progress: Progress }[]
}

export class Shadows {
  readonly #engine: Engine
  readonly #github: Github

  constructor(engine: Engine, github: Github) {
    this.#engine = engine
    this.#github = github
  }

  /** Both strategies begin together, each with an empty body of data. One comparison of a user at a time. */
  async start(userId: number, { strategies: wanted = strategies, keep = false }: ShadowOptions = {}): Promise<Shadow> {
    const different = new Set(wanted.filter((one) => strategies.includes(one)))
    if (wanted.length !== 2 || different.size !== 2)
      throw new CollectorError('INVALID_REQUEST', { field: 'strategies', problem: `must be two of ${strategies.join(', ')}` })
    const user = await findUser(this.#engine, userId)
    if (!user) throw new CollectorError('USER_UNKNOWN', { user: userId })
    checkSameGithub(user, this.#github)
    if (user.tokenState === 'refused') throw new CollectorError('TOKEN_REFUSED', { reason: user.tokenRefusal ?? 'it is refused' })
    const started = await this.#engine.transaction((tx) => this.#begin(tx, userId, wanted, keep))
    const newest = await this.newest(userId)
    if (!started) throw refuse(userId, newest)
    return newest as Shadow
  }

  /** The one under way, or the last one with its report. */
  async newest(userId: number): Promise<Shadow | undefined> {
    return findNewestShadow(this.#engine, userId)
  }

  /** What it would cost, by what is stored of the user, beside what is left. Nothing before the first collection: then nobody knows. */
  async estimate(userId: number, wanted: readonly Strategy[] = strategies): Promise<ShadowOutlook | undefined> {
    const stored = await countStored(this.#engine, userId)
    if (!stored) return undefined
    return { sides: wanted.map((strategy) => estimateCost(strategy, stored)), quota: await findQuota(this.#engine, userId) }
  }

  /** Of the one under way, or of the last one. */
  async progress(userId: number): Promise<ShadowProgress | undefined> {
    const shadow = await this.newest(userId)
    if (!shadow) return undefined
    const sides: { strategy: Strategy; progress: Progress }[] = []
    for (const { strategy, run } of shadow.sides) {
      const progress = await findProgress(this.#engine, userId, run)
      if (progress) sides.push({ strategy, progress })
    }
    return { shadow, sides }
  }

  async #begin(tx: TransactionClient, userId: number, wanted: readonly Strategy[], keep: boolean): Promise<boolean> {
    const shadow = await insertShadow(tx, userId, keep)
    if (shadow === undefined) return false
    for (const [place, strategy] of wanted.entries()) {
      const { id: collection } = await createCollection(tx, userId, 'shadow', strategy)
      const request = shadowRunOf(strategy)({ userId, collection }, { owner: ownerOf(userId) })
      const run = await this.#engine.runs.start(request, { client: tx, trigger: 'shadow' }).catch((error: unknown) => {
        if (error instanceof SluiceError && error.code === 'RUN_ACTIVE')
          throw new CollectorError('COLLECTION_ACTIVE', { user: userId, run: Number(error.details['run']) }, error)
        throw error
      })
      await insertSide(tx, shadow, place, { strategy, collection, run: run.id })
    }
    return true
  }
}

function refuse(userId: number, active: Shadow | undefined): CollectorError {
  return new CollectorError('SHADOW_ACTIVE', {
    user: userId,
    shadow: active?.id,
    runs: active?.sides.map(({ run }) => run).join(' and '),
  })
}
