/**
 * What other collectors ask for besides: comments, reviews, reactions, branches. Comments are made up when asked, as many as
 * the issue says it has; of the rest there is nothing in this world, and the lists say so instead of failing.
 */
import type { Issue, PullRequest } from '../world/model.ts'
import { contributorIds } from '../world/plan.ts'
import { simpleUserById } from './account-view.ts'
import { type Ask, iso, ok, type Reply, timeIn } from './ask.ts'
import { association } from './issue-view.ts'
import { cutPage, linkHeader, readPage } from './page.ts'
import * as problems from './problems.ts'
import type { Reached } from './reach-repo.ts'
import { fullName } from './repo-view.ts'

const emptyOfIssue: readonly string[] = ['events', 'timeline', 'reactions', 'labels']
const emptyOfPull: readonly string[] = ['reviews', 'comments', 'commits', 'files']
const emptyOfRepo: readonly string[] = ['labels', 'milestones', 'releases', 'hooks', 'tags', 'events', 'stargazers', 'forks']
/** More than any issue has. */
const commentsMax = 1000

/** Nothing if the address does not exist. */
export function aside(ask: Ask, reached: Reached, noun: string, more: readonly string[]): Reply | undefined {
  const [number, list, ...deeper] = more
  if (number === undefined) return noun === 'branches' ? branches(ask, reached) : emptyOfRepo.includes(noun) ? ok([]) : undefined
  if (!/^\d+$/.test(number) || list === undefined || deeper.length > 0) return undefined
  const { id } = reached.repo
  const pull = ask.world.pulls(id).find((pull) => pull.number === Number(number))
  if (noun === 'pulls') {
    if (!pull) return problems.notFound()
    if (list === 'requested_reviewers') return ok({ users: [], teams: [] })
    return emptyOfPull.includes(list) ? ok([]) : undefined
  }
  const item = pull ?? ask.world.issues(id).find((issue) => issue.number === Number(number))
  if (noun !== 'issues' || !item) return undefined
  if (list === 'comments') return comments(ask, reached, item)
  return emptyOfIssue.includes(list) ? ok([]) : undefined
}

function branches(ask: Ask, { repo }: Reached): Reply {
  if (repo.head === null) return ok([])
  const url = `${ask.base}/repos/${fullName(ask.world, repo)}/commits/${repo.head}`
  return ok([{ name: repo.defaultBranch, commit: { sha: repo.head, url }, protected: false }])
}

function comments(ask: Ask, { repo, address }: Reached, item: Issue | PullRequest): Reply {
  const name = fullName(ask.world, repo)
  const html = `https://github.com/${name}/${'issueId' in item ? 'pull' : 'issues'}/${item.number}`
  const since = timeIn(ask.query, 'since') ?? 0
  const all = Array.from({ length: item.comments }, (_, at) => {
    const id = ('issueId' in item ? item.issueId : item.id) * commentsMax + at
    const authorId = contributorIds[at % contributorIds.length] ?? item.authorId
    // The last one is what the issue was updated by.
    const createdAt = item.createdAt + Math.floor(((item.updatedAt - item.createdAt) * (at + 1)) / item.comments / 1000) * 1000
    return { id, authorId, createdAt }
  }).filter(({ createdAt }) => createdAt >= since)
  const page = readPage(ask.query)
  const body = cutPage(all, page).map(({ id, authorId, createdAt }) => ({
    id,
    node_id: `IC_${Buffer.from(String(id)).toString('base64url')}`,
    url: `${ask.base}/repos/${name}/issues/comments/${id}`,
    html_url: `${html}#issuecomment-${id}`,
    issue_url: `${ask.base}/repos/${name}/issues/${item.number}`,
    body: 'Something was said.',
    user: simpleUserById(ask.world, authorId, ask.base),
    created_at: iso(createdAt),
    updated_at: iso(createdAt),
    author_association: association(repo.ownerId, authorId),
    performed_via_github_app: null,
  }))
  return ok(body, { headers: linkHeader(address, ask.query, page, all.length) })
}
