/**
 * What exists in the simulated GitHub. Plain values; every time is in milliseconds and falls on a whole second, because
 * neither git nor GitHub's API knows anything finer.
 */
export type Affiliation = 'OWNER' | 'COLLABORATOR' | 'ORGANIZATION_MEMBER'

export interface Account {
  readonly id: number
  readonly nodeId: string
  login: string
  readonly type: 'User' | 'Organization'
  name: string | null
  followers: number
  readonly createdAt: number
  updatedAt: number
  formerLogins: readonly string[]
  suspended: boolean
}

export interface Repo {
  readonly id: number
  readonly nodeId: string
  ownerId: number
  name: string
  private: boolean
  readonly fork: boolean
  archived: boolean
  stars: number
  description: string | null
  readonly language: string | null
  readonly createdAt: number
  updatedAt: number
  pushedAt: number | null
  readonly defaultBranch: string
  /** The newest commit of the default branch; null while the repository is empty. */
  head: string | null
  hasIssues: boolean
  hasPullRequests: boolean
  blocked: 'dmca' | 'tos' | null
  guard: 'sso' | 'ip' | null
  deleted: boolean
  formerNames: readonly { readonly ownerId: number; readonly name: string }[]
  collaboratorIds: readonly number[]
}

export interface Commit {
  readonly sha: string
  readonly parents: readonly string[]
  readonly message: string
  /** Null when the e-mail address belongs to no account. */
  readonly authorId: number | null
  readonly authorName: string
  readonly authorEmail: string
  readonly authoredAt: number
  readonly committedAt: number
  readonly additions: number
  readonly deletions: number
  readonly changedFiles: number
}

export interface Issue {
  readonly id: number
  readonly nodeId: string
  readonly number: number
  readonly repoId: number
  readonly authorId: number
  title: string
  body: string | null
  state: 'open' | 'closed'
  readonly createdAt: number
  updatedAt: number
  closedAt: number | null
  closedById: number | null
  comments: number
}

export interface PullRequest {
  readonly id: number
  readonly nodeId: string
  /** Every pull request is an issue as well, with an id of its own there. */
  readonly issueId: number
  readonly number: number
  /** The repository it asks to be merged into. */
  readonly repoId: number
  headRepoId: number | null
  readonly authorId: number
  title: string
  body: string | null
  state: 'open' | 'closed'
  readonly createdAt: number
  updatedAt: number
  closedAt: number | null
  mergedAt: number | null
  mergedById: number | null
  comments: number
  readonly additions: number
  readonly deletions: number
  readonly changedFiles: number
  readonly headSha: string
  /** What the base branch was when it was opened. */
  readonly baseSha: string
}

export interface SimEvent {
  readonly id: string
  readonly type: string
  readonly actorId: number
  readonly repoId: number
  readonly createdAt: number
  readonly payload: Readonly<Record<string, unknown>>
}

/** One person to be generated: totals over all of that person's repositories. */
export interface PersonPlan {
  readonly login: string
  readonly token?: string | undefined
  readonly repositories: number
  readonly commits: number
  readonly issues: number
  readonly pullRequests: number
  readonly ownPullRequestsElsewhere?: number | undefined
  readonly events?: number | undefined
}
