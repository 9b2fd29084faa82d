/**
 * How far a walk over a repository's commits has to go.
 *
 * A commit that is merged late keeps its old date, so neither dates nor "the first commit that we know" tell where to stop. Two facts do. What the last
 * finished walk stored is everything that its head reaches; and if the old head is among what the new one reaches, so is all of that. Then there are
 * exactly `total − old.total` commits to find, wherever they hide, and the walk may stop when it has found that many. If the old head never turns up it was
 * pushed away: the walk goes to the end, and what it did not see is gone.
 *
 * REST tells no totals but the parents of each commit: there everything is found when each parent of a new commit is known or was seen, and nothing was
 * pushed away if the old head is one of those parents.
 */

/** What the last finished walk began with. */
export interface Known {
  readonly head: string
  readonly total: number
}

export interface CommitWalk {
  readonly head: string
  /** Nothing: all of it is to be read, because nobody ever did or the last walk broke off. */
  readonly old?: Known | undefined
  readonly seenOld: boolean
  /** Seen so far, and how many of them were not stored. */
  readonly seen: number
  readonly fresh: number
  /** Parents of new commits that were not seen yet; only where totals are not told. */
  readonly open?: readonly string[] | undefined
}

export interface CommitPage {
  readonly commits: readonly { readonly sha: string; readonly parents?: readonly string[] | undefined }[]
  /** Commits that the head reaches, if the server tells. */
  readonly total?: number | undefined
  readonly hasNext: boolean
}

export type CommitStep =
  | { readonly type: 'go on'; readonly walk: CommitWalk }
  /** Everything new was found; the rest is as it was. */
  | { readonly type: 'grown'; readonly total: number }
  /** Everything was seen; what was not is gone. */
  | { readonly type: 'whole'; readonly total: number }
  /** The list ended before its own count: nothing may be called gone. */
  | { readonly type: 'short'; readonly total: number }

/** A list of open parents longer than this is not carried along: the walk goes to the end instead. */
const openMax = 500

export function beginCommitWalk(head: string, old?: Known): CommitWalk {
  return { head, ...(old ? { old } : {}), seenOld: false, seen: 0, fresh: 0 }
}

/** `isKnown` tells whether the last finished walk, or an earlier page of this one, stored it. */
export function stepCommitWalk(walk: CommitWalk, page: CommitPage, isKnown: (sha: string) => boolean): CommitStep {
  const seen = walk.seen + page.commits.length
  const found = page.commits.filter(({ sha }) => !isKnown(sha))
  const fresh = walk.fresh + found.length
  const open = page.total === undefined ? stillOpen(walk, page, found, isKnown) : undefined
  const parents = page.total === undefined ? found.flatMap((commit) => commit.parents ?? []) : []
  const seenOld = walk.seenOld || page.commits.some(({ sha }) => sha === walk.old?.head) || parents.includes(walk.old?.head ?? '')
  if (walk.old && seenOld) {
    if (page.total !== undefined && fresh === page.total - walk.old.total) return { type: 'grown', total: page.total }
    if (page.total === undefined && open?.length === 0) return { type: 'grown', total: walk.old.total + fresh }
  }
  if (page.hasNext) return { type: 'go on', walk: { ...walk, seenOld, seen, fresh, ...(open ? { open } : { open: undefined }) } }
  if (page.total !== undefined && seen !== page.total) return { type: 'short', total: seen }
  return { type: 'whole', total: seen }
}

/** Nothing once there were too many to carry. */
function stillOpen(
  walk: CommitWalk,
  page: CommitPage,
  found: CommitPage['commits'],
  isKnown: (sha: string) => boolean,
): string[] | undefined {
  if (walk.seen > 0 && walk.open === undefined) return undefined
  const open = new Set(walk.open ?? [walk.head])
  // Parents come after their children in the list, so one that is seen stays seen.
  for (const { parents = [] } of found) for (const parent of parents) if (!isKnown(parent)) open.add(parent)
  for (const { sha } of page.commits) open.delete(sha)
  return open.size > openMax ? undefined : [...open]
}
