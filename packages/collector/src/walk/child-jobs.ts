/** The jobs that a page of discovery leads to: short lists share calls, long ones go alone with whole pages. */
import type { JobRequest } from '@sluice/engine'
import { commitBatching, inBatches, issueBatching, pullBatching } from './batches.ts'
import { beginCommitWalk } from './commit-walk.ts'
import { commits } from './commits.ts'
import type { FanOut, ListWalk } from './fan-out.ts'
import { issues } from './issues.ts'
import type { Fresh } from './judge-listed.ts'
import { wholePage } from './list-item.ts'
import { pullRequests } from './pull-requests.ts'

export interface Wanted {
  readonly id: number
  readonly node: string
  readonly lists: FanOut
}

export function childJobs(scope: { collection: number; run: number }, owner: string, wanted: readonly Wanted[]): JobRequest[] {
  const commitItems = wanted.flatMap(({ id, node, lists: { commits: walk } }) =>
    walk ? [{ id, node, first: pageFor(walk.expected), head: walk.head, walk: beginCommitWalk(walk.head, walk.old) }] : [],
  )
  const listItems = (list: 'issues' | 'pulls') =>
    wanted.flatMap(({ id, node, lists: { [list]: walk } }) => (walk ? [{ id, node, ...listItem(walk) }] : []))
  return [
    ...inBatches(commitItems, commitBatching).map((items) => commits({ ...scope, items }, { owner })),
    ...inBatches(listItems('issues'), issueBatching).map((items) => issues({ ...scope, items }, { owner })),
    ...inBatches(listItems('pulls'), pullBatching).map((items) => pullRequests({ ...scope, items }, { owner })),
  ]
}

function listItem({ since, newestAt, expected, keep }: ListWalk) {
  return { first: pageFor(expected), newestAt, ...(since === undefined ? {} : { since }), ...(keep ? { keep } : {}) }
}

function pageFor(expected: number | undefined): number {
  return Math.min(wholePage, Math.max(1, expected ?? wholePage))
}

/** By REST each list is a call of its own. Commits only after a change of the repository; the others are free as long as their ETags hold. */
export function restChildJobs(scope: { collection: number; run: number }, owner: string, fresh: readonly Fresh[]): JobRequest[] {
  return fresh.flatMap(({ row, state, marks: { commits: mark } }) => {
    const { id, hasIssues, hasPullRequests } = row
    const changedAt = laterOf(row.updatedAt, row.pushedAt)
    const read = mark?.since && mark.head !== null && mark.place === null && mark.since.getTime() >= Date.parse(changedAt)
    return [
      ...(state === 'empty' || read ? [] : [commits({ ...scope, rest: { id, changedAt } }, { owner })]),
      ...(hasIssues ? [issues({ ...scope, rest: { id } }, { owner })] : []),
      ...(hasPullRequests ? [pullRequests({ ...scope, rest: { id } }, { owner })] : []),
    ]
  })
}

/** A branch that is deleted is no push everywhere. */
function laterOf(updatedAt: string, pushedAt: string | null): string {
  return pushedAt !== null && Date.parse(pushedAt) > Date.parse(updatedAt) ? pushedAt : updatedAt
}
