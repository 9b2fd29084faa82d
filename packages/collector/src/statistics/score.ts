/**
 * The scores, version 1. docs/scores.md tells them to people, with examples that a test recomputes from here.
 *
 * Everything is damped by a logarithm of base 2: each doubling is worth the same, so that more never counts less, and a flood counts little more than a lot.
 * Lines are also capped for each commit: a vendored library is one commit, not a year of work. Nothing falls with time: the same deeds have the same score
 * tomorrow, and the current streak is shown but not counted.
 *
 * To change a number here is to change the formula: raise `formulaVersion`, and statistics that are computed anew say which one they are made by.
 */
export const formulaVersion = 1

/** Additions and deletions that one commit can bring. */
export const commitLinesMax = 500

const perCommitDoubling = 10
const perLineDoubling = 5
const linesUnit = 100
const perStreakDoubling = 10
const perIssueDoubling = 10
const perPullRequestDoubling = 15

/** What somebody did, as it is counted. */
export interface Deeds {
  readonly commits: number
  /** Additions and deletions, at most `commitLinesMax` for each commit. */
  readonly countedLines: number
  readonly longestStreak: number
  readonly issuesSolved: number
  /** Merged into others' repositories: how many, by the stars of the base. */
  readonly mergedByStars: readonly { readonly stars: number; readonly count: number }[]
}

export interface Scores {
  readonly pullRequestWeight: number
  readonly activity: number
  readonly impact: number
  readonly score: number
}

export function countLines(additions: number, deletions: number): number {
  return Math.min(additions + deletions, commitLinesMax)
}

/** 1 without stars, 2 with 9, 3 with 99, 4 with 999 … */
export function weigh(stars: number): number {
  return 1 + Math.log10(1 + Math.max(0, stars))
}

export function score(deeds: Deeds): Scores {
  // Sums of fractions depend on their order, so the order is fixed: the same deeds give the same score to the last bit.
  const counts = new Map<number, number>()
  for (const { stars, count } of deeds.mergedByStars) counts.set(stars, (counts.get(stars) ?? 0) + count)
  const pullRequestWeight = [...counts]
    .toSorted(([a], [b]) => a - b)
    .reduce((sum, [stars, count]) => sum + count * weigh(stars), 0)
  const activity =
    perCommitDoubling * doublings(deeds.commits) +
    perLineDoubling * doublings(deeds.countedLines / linesUnit) +
    perStreakDoubling * doublings(deeds.longestStreak)
  const impact = perIssueDoubling * doublings(deeds.issuesSolved) + perPullRequestDoubling * doublings(pullRequestWeight)
  return { pullRequestWeight, activity, impact, score: activity + impact }
}

function doublings(amount: number): number {
  return Math.log2(1 + Math.max(0, amount))
}
