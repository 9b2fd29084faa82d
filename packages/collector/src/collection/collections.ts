/** Collections, as people look at them. */
import type { Engine } from '@sluice/engine'
import { CollectorError } from '../errors.ts'
import {
  type Collection,
  createCollection,
  findCollection,
  findLiveCollection,
  listCollections,
  removeShadow,
  type Strategy,
} from './collection.ts'

export class Collections {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async find(id: number): Promise<Collection | undefined> {
    return findCollection(this.#engine, id)
  }

  async live(userId: number): Promise<Collection | undefined> {
    return findLiveCollection(this.#engine, userId)
  }

  async list(userId: number): Promise<Collection[]> {
    return listCollections(this.#engine, userId)
  }

  /** Empty, beside the live one. */
  async createShadow(userId: number, strategy: Strategy): Promise<Collection> {
    if (!(await findLiveCollection(this.#engine, userId))) throw new CollectorError('USER_UNKNOWN', { user: userId })
    return this.#engine.transaction((tx) => createCollection(tx, userId, 'shadow', strategy))
  }

  /** A shadow that has served; the live one goes with its user only. */
  async remove(id: number): Promise<boolean> {
    const found = await findCollection(this.#engine, id)
    if (found?.purpose === 'live') throw new CollectorError('COLLECTION_LIVE', { collection: id })
    return found !== undefined && this.#engine.transaction((tx) => removeShadow(tx, id))
  }
}
