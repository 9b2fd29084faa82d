/**
 * What a complete collection for one login must hold, read straight from the world. It is the answer sheet: no API rule and
 * no collector code takes part in it.
 */
import type { Account, Affiliation, Commit, Issue, PullRequest, Repo } from './model.ts'

export type RepoState = 'ok' | 'empty' | 'blocked' | 'guarded'
export type TruthRepo = Pick<
  Repo,
  | 'id'
  | 'nodeId'
  | 'name'
  | 'ownerId'
  | 'stars'
  | 'private'
  | 'fork'
  | 'archived'
  | 'createdAt'
  | 'pushedAt'
  | 'updatedAt'
  | 'head'
  | 'hasIssues'
  | 'hasPullRequests'
> & {
  readonly ownerLogin: string
  readonly affiliation: Affiliation
  readonly state: RepoState
}
export type TruthCommit = Pick<Commit, 'sha' | 'authorId' | 'additions' | 'deletions' | 'authoredAt' | 'committedAt'>

export interface GroundTruth {
  readonly profile: Pick<Account, 'id' | 'nodeId' | 'login' | 'name' | 'followers' | 'createdAt' | 'updatedAt'>
  readonly repositories: readonly TruthRepo[]
  /** By repository id, each reachable from the head, newest first. */
  readonly commits: Readonly<Record<number, readonly TruthCommit[]>>
  readonly issues: Readonly<Record<number, readonly Issue[]>>
  readonly pulls: Readonly<Record<number, readonly PullRequest[]>>
  /** By this login, wherever they are, if that place can be seen. */
  readonly ownPulls: readonly PullRequest[]
}

export interface TruthSource {
  readonly repos: ReadonlyMap<number, Repo>
  readonly accounts: ReadonlyMap<number, Account>
  byLogin(login: string): Account | undefined
  reposOf(accountId: number, affiliations: readonly Affiliation[]): Repo[]
  isVisible(repo: Repo, viewerId: number | undefined): boolean
  commits(repoId: number): readonly Commit[]
  issues(repoId: number): readonly Issue[]
  pulls(repoId: number): readonly PullRequest[]
  pullsBy(authorId: number): PullRequest[]
}

export function groundTruth(world: TruthSource, login: string): GroundTruth | undefined {
  const account = world.byLogin(login)
  if (!account) return undefined
  const { id, nodeId, name, followers, createdAt, updatedAt } = account
  const found = new Map<number, TruthRepo>()
  for (const affiliation of ['OWNER', 'COLLABORATOR', 'ORGANIZATION_MEMBER'] as const)
    for (const repo of world.reposOf(id, [affiliation]))
      if (!found.has(repo.id) && world.isVisible(repo, id)) found.set(repo.id, truthRepo(world, repo, affiliation))
  const repositories = [...found.values()].toSorted((a, b) => a.id - b.id)
  const readable = repositories.filter(({ state }) => state === 'ok' || state === 'empty')
  const collect = <T>(list: (repo: Repo) => readonly T[]) =>
    Object.fromEntries(readable.map((repo) => [repo.id, list(world.repos.get(repo.id) as Repo)]))
  return {
    profile: { id, nodeId, login: account.login, name, followers, createdAt, updatedAt },
    repositories,
    commits: collect((repo) => world.commits(repo.id).map(truthCommit)),
    issues: collect((repo) => (repo.hasIssues ? world.issues(repo.id) : [])),
    pulls: collect((repo) => (repo.hasPullRequests ? world.pulls(repo.id) : [])),
    ownPulls: world.pullsBy(id).filter((pull) => isOpenTo(world, world.repos.get(pull.repoId), id)),
  }
}

function isOpenTo(world: TruthSource, repo: Repo | undefined, viewerId: number): boolean {
  return repo !== undefined && world.isVisible(repo, viewerId) && !repo.blocked && !repo.guard && repo.hasPullRequests
}

function truthRepo(world: TruthSource, repo: Repo, affiliation: Affiliation): TruthRepo {
  const { id, nodeId, name, ownerId, stars, fork, archived, createdAt, pushedAt, updatedAt, head, hasIssues, hasPullRequests } =
    repo
  const state = repo.blocked ? 'blocked' : repo.guard ? 'guarded' : head === null ? 'empty' : 'ok'
  const ownerLogin = world.accounts.get(ownerId)?.login ?? ''
  return {
    id,
    nodeId,
    name,
    ownerId,
    ownerLogin,
    affiliation,
    stars,
    private: repo.private,
    fork,
    archived,
    createdAt,
    pushedAt,
    updatedAt,
    head,
    hasIssues,
    hasPullRequests,
    state,
  }
}

function truthCommit({ sha, authorId, additions, deletions, authoredAt, committedAt }: Commit): TruthCommit {
  return { sha, authorId, additions, deletions, authoredAt, committedAt }
}
