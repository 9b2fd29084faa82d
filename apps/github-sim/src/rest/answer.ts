/**
 * The table of addresses: which function answers which path. What is in no row is not found, a method that is not GET
 * included, because GitHub never says "method not allowed".
 */
import type { Account } from '../world/model.ts'
import { reposOfUser, reposOfViewer, user, viewer } from './account-routes.ts'
import { aside } from './aside-routes.ts'
import { type Ask, ok, type Reply } from './ask.ts'
import { compare, listCommits, oneCommit } from './commit-routes.ts'
import { eventsOf } from './event-routes.ts'
import { listIssues, oneIssue } from './issue-routes.ts'
import * as problems from './problems.ts'
import { listPulls, onePull } from './pull-routes.ts'
import { rateLimit } from './rate-limit-route.ts'
import { type Reached, reachRepo } from './reach-repo.ts'
import { fullRepoView } from './repo-view.ts'
import { searchIssues } from './search-routes.ts'

export function answer(ask: Ask): Reply {
  const segments = segmentsOf(ask.path)
  if (!segments) return problems.notFound()
  const [first, second, third] = segments
  if (first === 'repos' || first === 'repositories') return answerInRepo(ask, segments)
  if (ask.method !== 'GET' && ask.method !== 'HEAD') return problems.notFound()
  const { length } = segments
  if (first === 'user' && length === 1) return viewer(ask)
  if (first === 'user' && length === 2 && second === 'repos') return reposOfViewer(ask)
  if (first === 'user' && /^\d+$/.test(second ?? ''))
    return answerOfAccount(ask, ask.world.accounts.get(Number(second)), third, length)
  if (first === 'users' && second !== undefined) return answerOfAccount(ask, ask.world.byLogin(second), third, length)
  if (first === 'search' && length === 2 && second === 'issues') return searchIssues(ask)
  if (first === 'rate_limit' && length === 1) return rateLimit(ask)
  return problems.notFound()
}

function answerOfAccount(ask: Ask, account: Account | undefined, list: string | undefined, length: number): Reply {
  if (length === 2) return user(ask, account)
  if (length === 3 && list === 'repos') return reposOfUser(ask, account)
  if (length === 3 && list === 'events') return eventsOf(ask, account)
  if (length === 3 && list === 'orgs' && account) return ok([])
  return problems.notFound()
}

function answerInRepo(ask: Ask, segments: readonly string[]): Reply {
  const reached = reachRepo(ask, segments)
  if ('status' in reached) return reached
  if (ask.method !== 'GET' && ask.method !== 'HEAD') return problems.notFound()
  const [noun, ...more] = reached.rest
  if (noun === undefined) {
    const { repo } = reached
    return ok(fullRepoView(ask.world, repo, ask.base, ask.viewerId), { lastModified: repo.updatedAt })
  }
  return answerNoun(ask, reached, noun, more)
}

function answerNoun(ask: Ask, reached: Reached, noun: string, more: readonly string[]): Reply {
  const number = /^\d+$/.test(more[0] ?? '') && more.length === 1 ? Number(more[0]) : undefined
  if (noun === 'commits') return more.length === 0 ? listCommits(ask, reached) : oneCommit(ask, reached, more.join('/'))
  if (noun === 'compare' && more.length > 0) return compare(ask, reached, more.join('/'))
  if (noun === 'issues') {
    if (more.length === 0) return listIssues(ask, reached)
    if (number !== undefined) return oneIssue(ask, reached, number)
  }
  if (noun === 'pulls') {
    if (more.length === 0) return listPulls(ask, reached)
    if (number !== undefined) return onePull(ask, reached, number)
  }
  return aside(ask, reached, noun, more) ?? problems.notFound()
}

/** Nothing for a path that ends in a slash or cannot be decoded. */
function segmentsOf(path: string): string[] | undefined {
  const parts = path.split('/').slice(1)
  if (parts.includes('')) return undefined
  try {
    return parts.map(decodeURIComponent)
  } catch {
    return undefined
  }
}
