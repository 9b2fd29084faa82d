/** Pull requests of a repository. Where they are switched off, their addresses do not exist. */
import type { PullRequest } from '../world/model.ts'
import { type Ask, ok, type Reply } from './ask.ts'
import { cutPage, linkHeader, readPage } from './page.ts'
import * as problems from './problems.ts'
import { fullPullView, pullView } from './pull-view.ts'
import type { Reached } from './reach-repo.ts'
import { repoView } from './repo-view.ts'

const listPage = 'rest/pulls/pulls#list-pull-requests'

export function listPulls(ask: Ask, { repo, address }: Reached): Reply {
  if (!repo.hasPullRequests) return problems.notFound(listPage)
  const state = ask.query.get('state') ?? 'open'
  const sort = ask.query.get('sort') ?? 'created'
  const sign = (ask.query.get('direction') ?? (sort === 'created' ? 'desc' : 'asc')) === 'asc' ? 1 : -1
  const value = (pull: PullRequest) =>
    sort === 'updated' ? pull.updatedAt : sort === 'popularity' ? pull.comments : pull.createdAt
  const wanted = ask.world
    .pulls(repo.id)
    .filter((pull) => state === 'all' || pull.state === state)
    .toSorted((a, b) => sign * (value(a) - value(b) || a.number - b.number))
  const page = readPage(ask.query)
  const home = repoView(ask.world, repo, ask.base, ask.viewerId)
  const body = cutPage(wanted, page).map((pull) => pullView(ask, repo, pull, home))
  return ok(body, { headers: linkHeader(address, ask.query, page, wanted.length) })
}

export function onePull(ask: Ask, { repo }: Reached, number: number): Reply {
  const pull = repo.hasPullRequests ? ask.world.pulls(repo.id).find((pull) => pull.number === number) : undefined
  if (!pull) return problems.notFound('rest/pulls/pulls#get-a-pull-request')
  return ok(fullPullView(ask, repo, pull), { lastModified: pull.updatedAt })
}
