/**
 * The world: one plain truth in memory that REST, GraphQL and the ground truth all read.
 *
 * It holds no rule of any API. Whoever changes it (churn) goes through the methods at the end, so that indexes and lazily
 * generated contents stay in step.
 */
import { Contents } from './contents.ts'
import { Directory } from './directory.ts'
import { generateEvents } from './generate-events.ts'
import type { Items } from './generate-items.ts'
import { type GroundTruth, groundTruth } from './ground-truth.ts'
import { LazyRepo } from './lazy-repo.ts'
import type { Account, Affiliation, Commit, Issue, PersonPlan, PullRequest, Repo, SimEvent } from './model.ts'
import { unpackNodeId } from './node-id.ts'
import { contributorIds, planWorld, type RepoPlan } from './plan.ts'

export type WorldNode =
  | { readonly type: 'account'; readonly account: Account }
  | { readonly type: 'repo'; readonly repo: Repo }
  | { readonly type: 'issue'; readonly issue: Issue }
  | { readonly type: 'pull'; readonly pull: PullRequest }
  | { readonly type: 'commit'; readonly repo: Repo; readonly commit: Commit }

export interface WorldOptions {
  readonly seed: number
  readonly people: readonly PersonPlan[]
  /** The moment before which everything generated lies, in milliseconds. */
  readonly start: number
}

export class World {
  readonly seed: number
  readonly directory = new Directory()
  readonly #contents: Contents
  readonly #planned = new Map<number, RepoPlan[]>()
  readonly #start: number
  readonly #eventCounts: Map<number, number>
  readonly #events = new Map<number, SimEvent[]>()
  /** Repositories in which somebody has opened a pull request since the start. */
  readonly #pullPlaces = new Map<number, Set<number>>()
  #nextIssueId: number
  #nextPullId: number
  #nextRepoId: number
  #nextEventId = 40_000_000_001

  constructor({ seed, people, start }: WorldOptions) {
    this.seed = seed
    this.#start = Math.floor(start / 1000) * 1000
    this.#contents = new Contents(seed)
    const plan = planWorld(seed, people, this.#start)
    for (const account of plan.accounts) this.directory.addAccount(account)
    const firstHead = (repoId: number) => this.#contents.firstHead(repoId)
    for (const { facts, plan: repoPlan } of plan.repos) {
      this.#contents.addPlan(repoPlan)
      this.directory.addRepo(new LazyRepo(facts, firstHead))
      const planned = this.#planned.get(repoPlan.personId)
      if (planned) planned.push(repoPlan)
      else this.#planned.set(repoPlan.personId, [repoPlan])
    }
    this.#eventCounts = plan.events
    this.#nextIssueId = plan.nextIssueId
    this.#nextPullId = plan.nextPullId
    this.#nextRepoId = 100_001 + plan.repos.length
  }

  get accounts(): Map<number, Account> {
    return this.directory.accounts
  }

  get repos(): Map<number, Repo> {
    return this.directory.repos
  }

  byLogin(login: string): Account | undefined {
    return this.directory.byLogin(login)
  }

  byName(owner: string, name: string): Repo | { readonly movedTo: Repo } | undefined {
    return this.directory.byName(owner, name)
  }

  byNodeId(nodeId: string): WorldNode | undefined {
    const address = unpackNodeId(nodeId)
    if (!address) return undefined
    const { kind, id, part } = address
    if (kind === 'U' || kind === 'O') {
      const account = this.accounts.get(id)
      return account?.nodeId === nodeId ? { type: 'account', account } : undefined
    }
    const repo = this.repos.get(id)
    if (!repo || repo.deleted) return undefined
    if (kind === 'R') return { type: 'repo', repo }
    if (kind === 'C') {
      const commit = this.commit(id, String(part))
      return commit && { type: 'commit', repo, commit }
    }
    if (kind === 'I') {
      const issue = this.issues(id).find((issue) => issue.id === part)
      return issue && { type: 'issue', issue }
    }
    const pull = this.pulls(id).find((pull) => pull.id === part)
    return pull && { type: 'pull', pull }
  }

  reposOf(accountId: number, affiliations: readonly Affiliation[]): Repo[] {
    return this.directory.reposOf(accountId, affiliations)
  }

  isVisible(repo: Repo, viewerId: number | undefined): boolean {
    return this.directory.isVisible(repo, viewerId)
  }

  /** What `git log` shows from a commit, or from the head if none is named. The same array as long as nothing moves: do not change it. */
  commits(repoId: number, from: string | null = this.repos.get(repoId)?.head ?? null): readonly Commit[] {
    return this.#contents.order(repoId, from)
  }

  commit(repoId: number, sha: string): Commit | undefined {
    return this.#contents.commit(repoId, sha)
  }

  shas(repoId: number): Iterable<string> {
    return this.#contents.shas(repoId)
  }

  reachable(repoId: number, sha: string): Set<string> {
    return this.#contents.reach(repoId, sha)
  }

  /** Ascending by number, without pull requests. */
  issues(repoId: number): readonly Issue[] {
    return this.#contents.items(repoId).issues
  }

  /** Ascending by number. */
  pulls(repoId: number): readonly PullRequest[] {
    return this.#contents.items(repoId).pulls
  }

  /** True for every number that was ever given, even if what had it is deleted. */
  wasNumbered(repoId: number, number: number): boolean {
    return number > 0 && number < this.#contents.items(repoId).nextNumber
  }

  /** In all repositories that exist, ascending by id. */
  pullsBy(authorId: number): PullRequest[] {
    const everywhere = (contributorIds as readonly number[]).includes(authorId)
    const planned = this.#planned.get(authorId) ?? []
    const places = everywhere
      ? this.repos.keys()
      : new Set([
          ...planned.filter(({ pulls }) => pulls > 0).map(({ repoId }) => repoId),
          ...(this.#pullPlaces.get(authorId) ?? []),
        ])
    const found: PullRequest[] = []
    for (const repoId of places)
      if (this.repos.get(repoId)?.deleted === false)
        found.push(...this.pulls(repoId).filter((pull) => pull.authorId === authorId))
    return found.toSorted((a, b) => a.id - b.id)
  }

  /** Newest first. */
  events(accountId: number): readonly SimEvent[] {
    const known = this.#events.get(accountId)
    if (known) return known
    const repoIds = (this.#planned.get(accountId) ?? []).map(({ repoId }) => repoId)
    const made = generateEvents(this.seed, accountId, this.#eventCounts.get(accountId) ?? 0, repoIds, this.#start)
    this.#events.set(accountId, made)
    return made
  }

  /** Who does things there: the person it was made for, or else its owner. */
  mainAuthor(repo: Repo): number {
    return this.#contents.plan(repo.id)?.personId ?? repo.ownerId
  }

  /** Everything the token of this login may see. */
  groundTruth(login: string): GroundTruth | undefined {
    return groundTruth(this, login)
  }

  // What follows changes the world.

  addCommits(repoId: number, commits: readonly Commit[]): void {
    this.#contents.addCommits(repoId, commits)
  }

  /** Issues and pull requests to change; from now on they are remembered. */
  changeItems(repoId: number): Items {
    return this.#contents.keptItems(repoId)
  }

  addPull(pull: PullRequest): void {
    const items = this.changeItems(pull.repoId)
    items.pulls.push(pull)
    items.nextNumber = pull.number + 1
    const places = this.#pullPlaces.get(pull.authorId) ?? new Set()
    this.#pullPlaces.set(pull.authorId, places.add(pull.repoId))
  }

  addIssue(issue: Issue): void {
    const items = this.changeItems(issue.repoId)
    items.issues.push(issue)
    items.nextNumber = issue.number + 1
  }

  addEvent(event: Omit<SimEvent, 'id'>): void {
    const events = [{ ...event, id: String(this.#nextEventId++) }, ...this.events(event.actorId)]
    this.#events.set(event.actorId, events)
  }

  addRepo(facts: Repo): void {
    this.directory.addRepo(facts)
  }

  nextIssueId = (): number => this.#nextIssueId++
  nextPullId = (): number => this.#nextPullId++
  nextRepoId = (): number => this.#nextRepoId++
}
