/**
 * Users, as people register them.
 *
 * The row, the token, the live collection and the request to collect it are one transaction: there is no user without a token, and no token that nobody
 * asked to use. GitHub is asked before, outside of it.
 */
import {
  type Engine,
  idPlace,
  type Listed,
  onClient,
  type Page,
  readPage,
  Sealed,
  SluiceError,
  writeCursor,
} from '@sluice/engine'
import type { Github } from '@sluice/github'
import { createCollection, type Strategy } from '../collection/collection.ts'
import { dropEtags } from '../cursor/cursor.ts'
import { CollectorError } from '../errors.ts'
import { collectionRequested } from '../request/request-event.ts'
import { activeStates, ownerOf, runNames, secretOf } from '../request/run-names.ts'
import { askAccount, checkLogin, checkSameAccount } from './ask-account.ts'
import { checkSameGithub, findElsewhere } from './same-github.ts'
import { findTokenProblem, looksLikeToken } from './token-shape.ts'
import { findUser, insertUser, listUsers, moveUser, removeUser, storeProfile, trustToken, type User } from './user.ts'

export interface NewUser {
  readonly login: string
  readonly token: string
  /** Whether its first collection is asked for at once. Default true. */
  readonly collect?: boolean | undefined
}

export interface RegisteredUser extends User {
  /** The login that was given, when GitHub has another one for the account by now. */
  readonly renamedFrom?: string
}

const list = 'collector.users'

export class Users {
  readonly #engine: Engine
  readonly #github: Github
  readonly #strategy: Strategy

  /** `strategy` is the one for all. */
  constructor(engine: Engine, github: Github, strategy: Strategy = 'graphql') {
    this.#engine = engine
    this.#github = github
    this.#strategy = strategy
  }

  async register({ login, token, collect = true }: NewUser): Promise<RegisteredUser> {
    const wanted = checkLogin(login)
    const sealed = seal(token)
    const account = await askAccount(this.#github, sealed)
    await checkSameAccount(this.#github, sealed, wanted, account)
    await this.#engine.transaction(async (tx) => {
      // Somebody of this login at another GitHub is another person, whose login must not be taken away.
      const namesake = await findUser(onClient(tx), account.login)
      if (namesake) checkSameGithub(namesake, this.#github)
      if (!(await insertUser(tx, account, this.#github.baseUrl))) throw await this.#exists(account)
      await createCollection(tx, account.id, 'live', this.#strategy)
      await this.#engine.secrets.put(secretOf(account.id), sealed, { client: tx })
      const request = collectionRequested({ userId: account.id, trigger: 'signup' }, { owner: ownerOf(account.id) })
      if (collect) await this.#engine.publish(request, { client: tx })
    })
    const user = await this.#get(account.id)
    return wanted.toLowerCase() === user.login.toLowerCase() ? user : { ...user, renamedFrom: wanted }
  }

  /** What waits for a good token goes on. ETags go: they belong to the old one. `move`: its GitHub has another address now, which this process asks. */
  async rotateToken(userId: number, token: string, { move = false }: { move?: boolean | undefined } = {}): Promise<User> {
    const user = await this.#get(userId)
    if (!move) checkSameGithub(user, this.#github)
    const { login } = user
    const sealed = seal(token)
    const account = await askAccount(this.#github, sealed)
    if (account.id !== userId) throw new CollectorError('TOKEN_OF_ANOTHER', { login, owner: account.login })
    await this.#engine.transaction(async (tx) => {
      await storeProfile(tx, account)
      await moveUser(tx, userId, this.#github.baseUrl)
      await trustToken(tx, userId)
      await dropEtags(tx, userId)
      await this.#engine.secrets.put(secretOf(userId), sealed, { client: tx })
      await this.#engine.resume({ scope: 'owner', name: ownerOf(userId) }, { client: tx })
    })
    return this.#get(userId)
  }

  async find(idOrLogin: number | string): Promise<User | undefined> {
    if (typeof idOrLogin === 'string' && looksLikeToken(idOrLogin)) throw new CollectorError('LOGIN_WRONG_SHAPE')
    return findUser(this.#engine, idOrLogin)
  }

  /** In the order of their ids. */
  async list(page: Page = {}): Promise<Listed<User>> {
    const { limit, at } = readPage(list, page, idPlace)
    const rows = await listUsers(this.#engine, at ?? 0, limit + 1)
    const items = rows.slice(0, limit)
    return { items, next: rows.length > limit ? writeCursor(list, items.at(-1)?.id) : undefined }
  }

  /** With everything that was collected. Broken off, it goes on when it is called again. */
  async remove(userId: number): Promise<boolean> {
    if (!(await this.find(userId))) return false
    await this.#stopRuns(userId)
    // The token goes first: whatever happens next, nobody can use it any more.
    await this.#engine.secrets.remove(secretOf(userId)).catch((error: unknown) => {
      if (!(error instanceof SluiceError && error.code === 'SECRETS_OFF')) throw error
    })
    return this.#engine.transaction(async (tx) => {
      await this.#engine.resume({ scope: 'owner', name: ownerOf(userId) }, { client: tx })
      return removeUser(tx, userId)
    })
  }

  async #stopRuns(userId: number): Promise<void> {
    for (const kind of Object.values(runNames)) {
      const filter = { kind, owner: ownerOf(userId), state: activeStates }
      const { items } = await this.#engine.inspect.runs(filter, { limit: 1 })
      for (const run of items) await this.#engine.runs.cancel(run.id, 'its user was removed')
    }
  }

  /** Of another GitHub, perhaps: then a new token would not help. */
  async #exists({ id, login }: { id: number; login: string }): Promise<CollectorError> {
    const known = await findUser(this.#engine, id)
    return (known && findElsewhere(known, this.#github)) ?? new CollectorError('USER_EXISTS', { user: id, login })
  }

  async #get(userId: number): Promise<User> {
    const user = await findUser(this.#engine, userId)
    if (!user) throw new CollectorError('USER_UNKNOWN', { user: userId })
    return user
  }
}

function seal(token: string): Sealed {
  const problem = findTokenProblem(token)
  if (problem !== undefined) throw new CollectorError('TOKEN_WRONG_SHAPE', { problem })
  return new Sealed(token)
}
