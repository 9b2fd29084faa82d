/**
 * A person whose collection takes about so many calls, with as few rows as can be.
 *
 * By REST each commit is a call. A GraphQL call brings a hundred rows and more, so thousands of calls would be hundreds of thousands of rows; there, GitHub is made to break down on pages
 * larger than a few rows, and walks have to make theirs smaller, as they do when that happens.
 */
import type { Strategy } from '@sluice/collector'

export const smallPage = 10

const callsARepository = 45
/** The others are for discovery, for issues and pull requests, and for pages that were too large. */
const shareOfCommits = 0.85

export function personOfCalls(login: string, strategy: Strategy, calls: number) {
  return strategy === 'rest'
    ? { login, repositories: 10, commits: Math.round(calls), issues: 10, pullRequests: 10 }
    : {
        login,
        repositories: Math.ceil(calls / callsARepository),
        commits: Math.round(calls * smallPage * shareOfCommits),
        issues: 100,
        pullRequests: 100,
      }
}
