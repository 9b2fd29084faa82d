/**
 * Issues of a repository, pull requests among them. The list goes on by cursor: the next link carries `after`, there is no
 * last page, and whoever counts pages by himself is turned away once he is deep enough.
 */
import type { Issue, PullRequest, Repo } from '../world/model.ts'
import { type Ask, ok, type Reply, timeIn } from './ask.ts'
import { fullIssueView, issueEntry, issueView, pullEntry } from './issue-view.ts'
import { readPage, withParameters, writeLinks } from './page.ts'
import * as problems from './problems.ts'
import type { Reached } from './reach-repo.ts'

const listPage = 'rest/issues/issues#list-repository-issues'
const onePage = 'rest/issues/issues#get-an-issue'
const dayMs = 86_400_000
const noCursor = { after: '', before: '' }

type Item = Issue | PullRequest
type Key = readonly [value: number, number: number]

export function listIssues(ask: Ask, { repo, address }: Reached): Reply {
  if (!repo.hasIssues) return ok([])
  const order = readOrder(ask.query)
  if (!order) return problems.validationFailed('Issue', 'sort', 'invalid', listPage)
  const page = readPage(ask.query)
  const after = readCursor(ask.query.get('after'))
  const before = readCursor(ask.query.get('before'))
  if (!after && !before && page.page * page.perPage >= ask.deepPageMax && page.page > 1) return problems.deepPage()
  const all = wantedItems(ask, repo).toSorted((a, b) => order.compare(order.key(a), order.key(b)))
  const start = after
    ? all.findIndex((entry) => order.compare(order.key(entry), after) > 0)
    : before
      ? Math.max(0, all.filter((entry) => order.compare(order.key(entry), before) < 0).length - page.perPage)
      : (page.page - 1) * page.perPage
  const shown = start < 0 ? [] : all.slice(start, start + page.perPage)
  const [first, last] = [shown[0], shown.at(-1)]
  const link = (name: 'after' | 'before', entry: Item, number: number) =>
    withParameters(address, ask.query, { ...noCursor, [name]: writeCursor(order.key(entry)), page: String(number) })
  const links: [string, string][] = []
  if (first && start > 0) links.push(['prev', link('before', first, Math.max(1, page.page - 1))])
  if (last && start + shown.length < all.length) links.push(['next', link('after', last, page.page + 1)])
  return ok(
    shown.map((item) => issueView(ask.world, 'issueId' in item ? pullEntry(item) : issueEntry(item), ask.base)),
    { headers: writeLinks(links) },
  )
}

export function oneIssue(ask: Ask, { repo }: Reached, number: number): Reply {
  if (!repo.hasIssues) return problems.issuesDisabled()
  const issue = ask.world.issues(repo.id).find((issue) => issue.number === number)
  const pull = ask.world.pulls(repo.id).find((pull) => pull.number === number)
  const entry = issue ? issueEntry(issue) : pull ? pullEntry(pull) : undefined
  if (entry) return ok(fullIssueView(ask.world, entry, ask.base), { lastModified: entry.updatedAt })
  return ask.world.wasNumbered(repo.id, number) ? problems.issueDeleted() : problems.notFound(onePage)
}

function wantedItems(ask: Ask, repo: Repo): Item[] {
  const state = ask.query.get('state') ?? 'open'
  const since = timeIn(ask.query, 'since')
  const creator = ask.query.get('creator')
  const creatorId = creator === null ? undefined : (ask.world.byLogin(creator)?.id ?? -1)
  // The real list answers nothing at all for the first day of 1970.
  if (since !== undefined && since < dayMs) return []
  const isWanted = (item: Item) =>
    (state === 'all' || item.state === state) &&
    (since === undefined || item.updatedAt >= since) &&
    (creatorId === undefined || item.authorId === creatorId)
  const pulls = repo.hasPullRequests ? ask.world.pulls(repo.id).filter(isWanted) : []
  return [...ask.world.issues(repo.id).filter(isWanted), ...pulls]
}

function readOrder(query: URLSearchParams) {
  const sort = query.get('sort') ?? 'created'
  if (sort !== 'created' && sort !== 'updated' && sort !== 'comments') return undefined
  const sign = query.get('direction') === 'asc' ? 1 : -1
  const value = (entry: Item) => (sort === 'created' ? entry.createdAt : sort === 'updated' ? entry.updatedAt : entry.comments)
  return {
    key: (entry: Item): Key => [value(entry), entry.number],
    compare: (a: Key, b: Key) => sign * (a[0] - b[0] || a[1] - b[1]),
  }
}

const writeCursor = ([value, number]: Key) => Buffer.from(`cursor:v2:${value}:${number}`).toString('base64')

function readCursor(text: string | null): Key | undefined {
  const found = /^cursor:v2:(-?\d+):(\d+)$/.exec(Buffer.from(text ?? '', 'base64').toString('latin1'))
  return found ? [Number(found[1]), Number(found[2])] : undefined
}
