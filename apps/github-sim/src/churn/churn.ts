/**
 * Churn: what people do on GitHub while somebody collects. Every deed says what it did. Nothing here moves the clock; a deed
 * happens at its present second.
 */
import type { SimClock } from '../clock/clock.ts'
import { blankRepo } from '../world/blank-repo.ts'
import type { Account, Issue, PullRequest, Repo } from '../world/model.ts'
import { createRandom, type Random } from '../world/random.ts'
import type { World } from '../world/world.ts'
import * as items from './item-deeds.ts'
import * as pushes from './push.ts'
import { type Done, drawDeed, type StepOptions } from './step.ts'

export type RepoRef = Repo | number | string

export class Churn {
  readonly #world: World
  readonly #clock: SimClock
  readonly #random: Random
  #ordinal = 1_000_000

  constructor(world: World, clock: SimClock) {
    this.#world = world
    this.#clock = clock
    this.#random = createRandom(world.seed, 'churn')
  }

  push(repo: RepoRef, count = 1): pushes.Pushed {
    return pushes.push(this.#world, this.#repo(repo), count, this.#moment())
  }

  lateMerge(repo: RepoRef, count = 3, daysOld = 7): pushes.Pushed {
    return pushes.lateMerge(this.#world, this.#repo(repo), count, daysOld, this.#moment())
  }

  forcePush(repo: RepoRef, dropped = 2, added = 1): pushes.Pushed {
    return pushes.forcePush(this.#world, this.#repo(repo), dropped, added, this.#moment())
  }

  openIssue(repo: RepoRef): Issue {
    return items.openIssue(this.#world, this.#repo(repo), this.#moment())
  }

  closeIssue(repo: RepoRef, number?: number): Issue | undefined {
    return items.closeIssue(this.#world, this.#repo(repo), number, this.#moment())
  }

  commentIssue(repo: RepoRef, number?: number): Issue | undefined {
    return items.commentIssue(this.#world, this.#repo(repo), number, this.#moment())
  }

  deleteIssue(repo: RepoRef, number?: number): Issue | undefined {
    return items.deleteIssue(this.#world, this.#repo(repo), number, this.#moment())
  }

  openPull(repo: RepoRef, authorId?: number): PullRequest {
    return items.openPull(this.#world, this.#repo(repo), authorId, this.#moment())
  }

  mergePull(repo: RepoRef, number?: number): PullRequest | undefined {
    return items.mergePull(this.#world, this.#repo(repo), number, this.#moment())
  }

  rename(repo: RepoRef, name?: string): Repo {
    const found = this.#repo(repo)
    this.#world.directory.moveRepo(found, found.ownerId, name ?? `${found.name}-r${this.#next()}`)
    return this.#changed(found)
  }

  /** The old name goes to a new repository of the same owner, so the redirect is no more. */
  renameWithReuse(repo: RepoRef): { readonly renamed: Repo; readonly taker: Repo } {
    const old = this.#repo(repo).name
    const renamed = this.rename(repo)
    return { renamed, taker: this.createRepo(renamed.ownerId, old) }
  }

  transfer(repo: RepoRef, to: string): Repo {
    const found = this.#repo(repo)
    const before = found.ownerId
    this.#world.directory.moveRepo(found, this.#account(to).id, found.name)
    this.#world.directory.addCollaborator(found, before)
    return this.#changed(found)
  }

  /** Shares a repository with somebody. */
  invite(repo: RepoRef, login: string): Repo {
    const found = this.#repo(repo)
    this.#world.directory.addCollaborator(found, this.#account(login).id)
    return found
  }

  /** Takes somebody's share away again. */
  dismiss(repo: RepoRef, login: string): Repo {
    const found = this.#repo(repo)
    this.#world.directory.removeCollaborator(found, this.#account(login).id)
    return found
  }

  setPrivate(repo: RepoRef, hidden = true): Repo {
    return this.#changed(Object.assign(this.#repo(repo), { private: hidden }))
  }

  deleteRepo(repo: RepoRef): Repo {
    const found = this.#repo(repo)
    this.#world.directory.removeRepo(found)
    return found
  }

  disablePulls(repo: RepoRef): Repo {
    return this.#changed(Object.assign(this.#repo(repo), { hasPullRequests: false }))
  }

  disableIssues(repo: RepoRef): Repo {
    return this.#changed(Object.assign(this.#repo(repo), { hasIssues: false }))
  }

  block(repo: RepoRef, reason: 'dmca' | 'tos' = 'dmca'): Repo {
    return this.#changed(Object.assign(this.#repo(repo), { blocked: reason }))
  }

  unblock(repo: RepoRef): Repo {
    return this.#changed(Object.assign(this.#repo(repo), { blocked: null }))
  }

  guard(repo: RepoRef, by: 'sso' | 'ip' | null): Repo {
    return Object.assign(this.#repo(repo), { guard: by })
  }

  /** The default branch is deleted and nothing is left. Deleting a branch is a push. */
  emptyRepo(repo: RepoRef): Repo {
    return this.#changed(Object.assign(this.#repo(repo), { head: null, pushedAt: this.#moment().now }))
  }

  star(repo: RepoRef, stars = 1): Repo {
    const found = this.#repo(repo)
    return this.#changed(Object.assign(found, { stars: found.stars + stars }))
  }

  createRepo(owner: number | string, name: string): Repo {
    const { now } = this.#moment()
    const id = this.#world.nextRepoId()
    const ownerId = typeof owner === 'number' ? owner : this.#account(owner).id
    const repo = blankRepo(id, ownerId, name, now)
    this.#world.addRepo(repo)
    return repo
  }

  renameLogin(login: string, to?: string): Account {
    const account = this.#account(login)
    this.#world.directory.renameLogin(account, to ?? `${account.login}-r${this.#next()}`)
    account.updatedAt = this.#moment().now
    return account
  }

  /** An hour of random deeds on a share of the repositories of the people, from the seed. */
  step(options: StepOptions = {}): Done[] {
    const { share = 0.01 } = options
    const repos = [...this.#world.repos.values()].filter((repo) => !repo.deleted && this.#isOfPerson(repo, options))
    const count = Math.max(1, Math.round(repos.length * share))
    return Array.from({ length: repos.length === 0 ? 0 : count }, () => {
      const repo = this.#random.pick(repos)
      return drawDeed(this, repo, this.#random, options)
    })
  }

  #isOfPerson(repo: Repo, { logins }: StepOptions): boolean {
    const owner = this.#world.accounts.get(repo.ownerId)
    return owner?.type === 'User' && (logins === undefined || logins.includes(owner.login))
  }

  #changed(repo: Repo): Repo {
    repo.updatedAt = this.#moment().now
    return repo
  }

  #moment(): pushes.Moment {
    return { random: this.#random, now: Math.floor(this.#clock.now() / 1000) * 1000, ordinal: () => this.#next() }
  }

  #next(): number {
    return ++this.#ordinal
  }

  #repo(ref: RepoRef): Repo {
    const found = typeof ref === 'object' ? ref : typeof ref === 'number' ? this.#world.repos.get(ref) : this.#byName(ref)
    if (!found || found.deleted) throw new Error(`There is no repository ${typeof ref === 'object' ? ref.id : ref}.`)
    return found
  }

  #byName(fullName: string): Repo | undefined {
    const [owner = '', name = ''] = fullName.split('/')
    const found = this.#world.byName(owner, name)
    return found && 'movedTo' in found ? found.movedTo : found
  }

  #account(login: string): Account {
    const account = this.#world.byLogin(login)
    if (!account) throw new Error(`Nobody here is called ${login}.`)
    return account
  }
}
