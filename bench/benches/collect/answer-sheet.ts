/**
 * The truth, in the shape of the collector's rows: one row a thing, with the fields that must be the same.
 *
 * What is compared is what SPEC C-17 asks to be stored, and what scores are made of.
 */
import type { GroundTruth } from '@sluice/github-sim'

export type Row = Readonly<Record<string, unknown>>

export interface AnswerSheet {
  readonly repositories: Row[]
  readonly commits: Row[]
  readonly issues: Row[]
  readonly pulls: Row[]
  /** Of these, and only of these, everything that is stored must be there. */
  readonly readable: { readonly commits: Set<number>; readonly issues: Set<number>; readonly pulls: Set<number> }
}

/** The simulator's words for what a repository is, in the collector's. */
const states = { ok: 'active', empty: 'empty', blocked: 'blocked', guarded: 'forbidden' } as const

export function answerSheet(truth: GroundTruth): AnswerSheet {
  const repositories = truth.repositories.filter(({ affiliation }) => affiliation !== 'ORGANIZATION_MEMBER') // not asked for
  const open = repositories.filter(({ state }) => state === 'ok' || state === 'empty')
  const readable = new Set(open.map(({ id }) => id)) // of the others nothing can be known but that they are barred
  const pulls = [...Object.values(truth.pulls).flat(), ...truth.ownPulls].map((pull) => ({
    key: `${pull.repoId}/${pull.number}`,
    repository: pull.repoId,
    id: pull.id,
    state: pull.state,
    author: pull.authorId,
    created: pull.createdAt,
    updated: pull.updatedAt,
    closed: pull.closedAt,
    merged: pull.mergedAt,
    title: pull.title,
    additions: pull.additions,
    deletions: pull.deletions,
  }))
  return {
    repositories: repositories.map((one) => ({
      key: String(one.id),
      id: one.id,
      state: states[one.state],
      ...(readable.has(one.id) && {
        name: one.name,
        owner: one.ownerId,
        stars: one.stars,
        private: one.private,
        fork: one.fork,
        pushed: one.pushedAt,
        updated: one.updatedAt,
      }),
    })),
    commits: Object.entries(truth.commits).flatMap(([repository, commits]) =>
      commits.map((commit) => ({
        key: `${repository}/${commit.sha}`,
        repository: Number(repository),
        author: commit.authorId,
        authored: commit.authoredAt,
        committed: commit.committedAt,
        additions: commit.additions,
        deletions: commit.deletions,
      })),
    ),
    issues: Object.entries(truth.issues).flatMap(([repository, issues]) =>
      issues.map((issue) => ({
        key: `${repository}/${issue.number}`,
        repository: Number(repository),
        id: issue.id,
        state: issue.state,
        author: issue.authorId,
        created: issue.createdAt,
        updated: issue.updatedAt,
        closed: issue.closedAt,
        closer: issue.closedById,
        title: issue.title,
      })),
    ),
    // One pull request can be in a repository of the user's and be the user's own.
    pulls: [...new Map(pulls.map((pull) => [pull.key, pull])).values()],
    readable: {
      commits: readable,
      issues: new Set(open.filter(({ hasIssues }) => hasIssues).map(({ id }) => id)),
      pulls: new Set(open.filter(({ hasPullRequests }) => hasPullRequests).map(({ id }) => id)),
    },
  }
}
