/**
 * What a resolver may know: the world, who asks, and what this query weighs. And the things that resolvers hand to each
 * other: rows of the world with a word that tells their GraphQL type.
 */
import type { Account, Commit, Issue, PullRequest, Repo } from '../world/model.ts'
import type { World } from '../world/world.ts'
import type { BudgetReading, Estimate } from './host.ts'

export interface Context {
  readonly world: World
  readonly viewer: Account
  /** False for a token that was granted no repository. */
  readonly mayRead: boolean
  readonly estimate: Estimate
  readonly budget: BudgetReading
  /** Spends the compute budget of the query, once a commit; throws when it is used up. */
  readonly diff: (sha: string) => void
  /** Throws if lists are refused altogether. */
  readonly list: () => void
}

export interface AccountThing {
  readonly kind: 'User' | 'Organization'
  readonly account: Account
}
export interface RepositoryThing {
  readonly kind: 'Repository'
  readonly repo: Repo
}
export interface CommitThing {
  readonly kind: 'Commit'
  readonly repo: Repo
  readonly commit: Commit
}
export interface IssueThing {
  readonly kind: 'Issue' | 'ClosedEvent'
  readonly repo: Repo
  readonly issue: Issue
}
export interface PullRequestThing {
  readonly kind: 'PullRequest'
  readonly repo: Repo
  readonly pull: PullRequest
}
export interface RefThing {
  readonly kind: 'Ref'
  readonly repo: Repo
  readonly sha: string
}
