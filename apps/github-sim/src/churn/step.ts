/** What may happen in an hour, and how likely each is. Gentle deeds are frequent, violent ones rare. */
import type { Repo } from '../world/model.ts'
import type { Random } from '../world/random.ts'

export interface StepOptions {
  /** Which part of the repositories something happens in; default one in a hundred. */
  readonly share?: number | undefined
  /** Only repositories of these people. */
  readonly logins?: readonly string[] | undefined
  /** Without renames, deletions, blocks and the like. */
  readonly gentle?: boolean | undefined
}

export interface Done {
  readonly deed: string
  readonly repoId?: number
  readonly detail?: unknown
}

/** The deeds that are drawn; churn does them. */
export interface Doer {
  push(repo: Repo, count: number): unknown
  lateMerge(repo: Repo, count: number, daysOld: number): unknown
  forcePush(repo: Repo, dropped: number, added: number): unknown
  openIssue(repo: Repo): unknown
  closeIssue(repo: Repo): unknown
  commentIssue(repo: Repo): unknown
  openPull(repo: Repo): unknown
  mergePull(repo: Repo): unknown
  star(repo: Repo): unknown
  rename(repo: Repo): unknown
  renameWithReuse(repo: Repo): unknown
  transfer(repo: Repo, to: string): unknown
  deleteRepo(repo: Repo): unknown
  disablePulls(repo: Repo): unknown
  block(repo: Repo): unknown
  emptyRepo(repo: Repo): unknown
}

type Draw = readonly [weight: number, deed: string, act: (churn: Doer, repo: Repo, random: Random) => unknown]

const gentle: readonly Draw[] = [
  [40, 'push', (churn, repo, random) => churn.push(repo, random.whole(1, 4))],
  [5, 'lateMerge', (churn, repo, random) => churn.lateMerge(repo, random.whole(1, 4), random.whole(1, 14))],
  [14, 'openIssue', (churn, repo) => churn.openIssue(repo)],
  [10, 'closeIssue', (churn, repo) => churn.closeIssue(repo)],
  [10, 'commentIssue', (churn, repo) => churn.commentIssue(repo)],
  [8, 'openPull', (churn, repo) => churn.openPull(repo)],
  [6, 'mergePull', (churn, repo) => churn.mergePull(repo)],
  [8, 'star', (churn, repo) => churn.star(repo)],
]
const violent: readonly Draw[] = [
  [3, 'forcePush', (churn, repo, random) => churn.forcePush(repo, random.whole(1, 3), random.whole(1, 3))],
  [2, 'rename', (churn, repo) => churn.rename(repo)],
  [1, 'renameWithReuse', (churn, repo) => churn.renameWithReuse(repo)],
  [1, 'transfer', (churn, repo) => churn.transfer(repo, 'example-org')],
  [1, 'deleteRepo', (churn, repo) => churn.deleteRepo(repo)],
  [1, 'disablePulls', (churn, repo) => churn.disablePulls(repo)],
  [1, 'block', (churn, repo) => churn.block(repo)],
  [1, 'emptyRepo', (churn, repo) => churn.emptyRepo(repo)],
]

export function drawDeed(churn: Doer, repo: Repo, random: Random, options: StepOptions): Done {
  // It may have been deleted earlier in the same hour.
  if (repo.deleted) return { deed: 'nothing', repoId: repo.id }
  const draws = options.gentle ? gentle : [...gentle, ...violent]
  let at = random.next() * draws.reduce((all, [weight]) => all + weight, 0)
  for (const [weight, deed, act] of draws) {
    at -= weight
    if (at < 0) return { deed, repoId: repo.id, detail: act(churn, repo, random) }
  }
  return { deed: 'nothing', repoId: repo.id }
}
