/**
 * Which lists of a repository have to be read, told from what discovery saw of it and what the last finished walks left behind.
 *
 * A head that is the same means the same commits. For issues and pull requests the newest update stands for the list: the cursor keeps the one that the last
 * finished walk was started for. A walk that broke off left its place, and is done again in full.
 */
import type { Known } from './commit-walk.ts'

/** What discovery saw. Undefined means that it could not see, so whatever it is has to be read. */
export interface Sight {
  readonly head: string | null
  readonly commits?: number | undefined
  readonly issues: ListSight | undefined
  readonly pulls: ListSight | undefined
}

export interface ListSight {
  readonly count: number
  readonly newestAt: string | null
}

export interface Mark {
  readonly since: Date | null
  readonly place: string | null
  readonly head: string | null
  readonly total: number | null
}

export interface Marks {
  readonly commits: Mark | undefined
  readonly issues: Mark | undefined
  readonly pulls: Mark | undefined
}

export interface FanOut {
  /** `expected` is how many rows are to come, if it can be told. */
  readonly commits: { readonly head: string; readonly old: Known | undefined; readonly expected: number | undefined } | undefined
  readonly issues: ListWalk | undefined
  readonly pulls: ListWalk | undefined
}

export interface ListWalk {
  readonly since: string | undefined
  readonly newestAt: string | null
  readonly expected: number | undefined
  /** The cursor stays where it is. */
  readonly keep?: boolean
}

/** Changed within this before a walk looked: it may have changed once more in the same second, which `newestAt` does not show. */
const blurMs = 2_000
/** Rows that are asked for where only some of a list have changed and nobody knows how many. */
export const changedGuess = 10

export function fanOut(
  sight: Sight,
  marks: Marks,
  { overlapMs, start }: { overlapMs: number; start?: Date | undefined },
): FanOut {
  return {
    commits: commitsToWalk(sight, marks.commits),
    issues: listToWalk(sight.issues, marks.issues, overlapMs, start),
    pulls: listToWalk(sight.pulls, marks.pulls, overlapMs, start),
  }
}

function commitsToWalk({ head, commits }: Sight, mark: Mark | undefined): FanOut['commits'] {
  if (head === null) return undefined
  const whole = !mark || mark.place !== null || mark.head === null || mark.total === null
  if (whole) return { head, old: undefined, expected: commits }
  if (mark.head === head) return undefined
  const old = { head: mark.head, total: mark.total }
  return { head, old, expected: commits === undefined ? undefined : Math.max(1, commits - old.total + 1) }
}

function listToWalk(
  sight: ListSight | undefined,
  mark: Mark | undefined,
  overlapMs: number,
  start: Date | undefined,
): ListWalk | undefined {
  if (sight && (sight.count === 0 || sight.newestAt === null)) return undefined
  const newestAt = sight?.newestAt ?? null
  if (!mark?.since) return { since: undefined, newestAt, expected: sight?.count }
  const lookedMs = mark.since.getTime() + overlapMs
  const blurred = newestAt !== null && Date.parse(newestAt) > lookedMs - blurMs
  if (newestAt !== null && newestAt === mark.head && !blurred) return undefined
  const since = start && start < mark.since ? start : mark.since
  return { since: since.toISOString(), newestAt, expected: sight && Math.min(sight.count, changedGuess) }
}
