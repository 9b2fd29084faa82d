/**
 * Who lives in the demo's GitHub, and how much its budgets allow: windows are short and small, so that everybody runs into their limit on the way.
 */
import type { PersonPlan } from '@sluice/github-sim'

export const people: readonly PersonPlan[] = [
  { login: 'acorn', repositories: 14, commits: 2_600, issues: 420, pullRequests: 160, ownPullRequestsElsewhere: 4 },
  { login: 'birch', repositories: 10, commits: 1_500, issues: 300, pullRequests: 90, ownPullRequestsElsewhere: 9 },
  { login: 'cedar', repositories: 12, commits: 2_000, issues: 260, pullRequests: 120, ownPullRequestsElsewhere: 6 },
  { login: 'maple', repositories: 7, commits: 900, issues: 120, pullRequests: 60, ownPullRequestsElsewhere: 12 },
  { login: 'rowan', repositories: 5, commits: 700, issues: 90, pullRequests: 40, ownPullRequestsElsewhere: 2 },
]

export const windowMs = 4_000
export const limit = 14
/** Left alone by the engine. */
export const floor = 2
export const latencyMs = 90
export const leaseMs = 3_000
