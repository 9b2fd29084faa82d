/** Search for issues and pull requests by author, state and place. A thousand results can be reached, no more. */
import type { Repo } from '../world/model.ts'
import { type Ask, ok, type Reply } from './ask.ts'
import { type Entry, issueEntry, issueView, pullEntry } from './issue-view.ts'
import { cutPage, linkHeader, readPage } from './page.ts'
import * as problems from './problems.ts'

const resultsMax = 1000
const searchPage = 'v3/search/'

export function searchIssues(ask: Ask): Reply {
  const words = (ask.query.get('q') ?? '').split(/[\s+]+/).filter((word) => word !== '')
  if (words.length === 0) return problems.validationFailed('Search', 'q', 'missing', searchPage)
  const page = readPage(ask.query)
  if ((page.page - 1) * page.perPage >= resultsMax) return problems.endOfSearch()
  const terms = words.map((word) => [word.split(':')[0] ?? '', word.split(':').slice(1).join(':')] as const)
  const author = terms.find(([name]) => name === 'author')?.[1]
  const account = author === undefined ? undefined : ask.world.byLogin(author)
  if (author !== undefined && !account) return problems.validationFailed('Search', 'q', 'invalid', searchPage)
  const found = candidates(ask, account?.id, terms.find(([name]) => name === 'repo')?.[1])
    .filter((entry) => terms.every((term) => fits(entry, term)))
    .toSorted((a, b) => b.createdAt - a.createdAt || b.id - a.id)
  const items = cutPage(found.slice(0, resultsMax), page).map((entry) => ({
    ...issueView(ask.world, entry, ask.base),
    body: entry.body ?? '',
    score: 1,
  }))
  return ok(
    { total_count: found.length, incomplete_results: false, items, search_type: 'lexical' },
    { headers: linkHeader(`${ask.base}/search/issues`, ask.query, page, Math.min(resultsMax, found.length)) },
  )
}

function candidates(ask: Ask, authorId: number | undefined, place: string | undefined): Entry[] {
  const { world, viewerId } = ask
  const isOpen = (repo: Repo | undefined) => repo !== undefined && world.isVisible(repo, viewerId) && !repo.blocked && !repo.guard
  const repos = reposToSearch(ask, authorId, place).filter(isOpen)
  const issues = repos
    .flatMap((repo) => world.issues(repo.id))
    .filter((issue) => authorId === undefined || issue.authorId === authorId)
  const pulls = authorId === undefined ? repos.flatMap((repo) => world.pulls(repo.id)) : world.pullsBy(authorId)
  const named = new Set(repos.map(({ id }) => id))
  const reachable = pulls.filter(
    (pull) => isOpen(world.repos.get(pull.repoId)) && (place === undefined || named.has(pull.repoId)),
  )
  return [...issues.map(issueEntry), ...reachable.map(pullEntry)]
}

/** One place if it is named; otherwise where the author, or else the caller, is at home. */
function reposToSearch({ world, viewerId }: Ask, authorId: number | undefined, place: string | undefined): Repo[] {
  if (place === undefined) return world.reposOf(authorId ?? viewerId ?? -1, ['OWNER', 'COLLABORATOR'])
  const [owner = '', name = ''] = place.split('/')
  const found = world.byName(owner, name)
  return found && !('movedTo' in found) ? [found] : []
}

function fits(entry: Entry, [name, value]: readonly [string, string]): boolean {
  if (name !== 'type' && name !== 'is' && name !== 'state') return true
  if (value === 'pr') return entry.pull !== undefined
  if (value === 'issue') return entry.pull === undefined
  if (value === 'merged') return typeof entry.pull?.mergedAt === 'number'
  if (value === 'unmerged') return entry.pull !== undefined && entry.pull.mergedAt === null
  return value === 'open' || value === 'closed' ? entry.state === value : true
}
