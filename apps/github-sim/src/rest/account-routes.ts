/** Profiles, and the lists of repositories of an account. */
import type { Account, Affiliation, Repo } from '../world/model.ts'
import { ownProfile, profile } from './account-view.ts'
import { type Ask, ok, type Reply } from './ask.ts'
import { cutPage, linkHeader, readPage } from './page.ts'
import * as problems from './problems.ts'
import { fullName, repoView } from './repo-view.ts'

export function viewer(ask: Ask): Reply {
  const account = ask.viewerId === undefined ? undefined : ask.world.accounts.get(ask.viewerId)
  if (!account) return problems.requiresAuthentication('rest/users/users#get-the-authenticated-user')
  return ok(ownProfile(ask.world, account, ask.base), { lastModified: account.updatedAt })
}

export function user(ask: Ask, account: Account | undefined): Reply {
  if (!account || account.suspended) return problems.notFound('rest/users/users#get-a-user')
  const view = ask.viewerId === account.id ? ownProfile : profile
  return ok(view(ask.world, account, ask.base), { lastModified: account.updatedAt })
}

/** `type` is all, owner (default) or member; others see what is public. */
export function reposOfUser(ask: Ask, account: Account | undefined): Reply {
  if (!account) return problems.notFound('rest/repos/repos#list-repositories-for-a-user')
  const type = ask.query.get('type') ?? 'owner'
  const affiliations: Affiliation[] =
    type === 'all' ? ['OWNER', 'COLLABORATOR'] : type === 'member' ? ['COLLABORATOR'] : ['OWNER']
  const repos = ask.world.reposOf(account.id, affiliations).filter((repo) => !repo.private)
  return listRepos(ask, repos, `${ask.base}/user/${account.id}/repos`)
}

export function reposOfViewer(ask: Ask): Reply {
  if (ask.viewerId === undefined)
    return problems.requiresAuthentication('rest/repos/repos#list-repositories-for-the-authenticated-user')
  const type = ask.query.get('type')
  const affiliation = ask.query.get('affiliation')
  const visibility = ask.query.get('visibility')
  if (type !== null && (affiliation !== null || visibility !== null))
    return problems.validationFailed('Repository', 'type', 'invalid', 'rest/repos/repos')
  const named = (affiliation ?? 'owner,collaborator,organization_member').split(',').map((word) => word.trim().toUpperCase())
  const affiliations = type === 'owner' ? ['OWNER'] : type === 'member' ? ['COLLABORATOR', 'ORGANIZATION_MEMBER'] : named
  const wanted = type === 'public' || type === 'private' ? type : visibility
  const { world, viewerId } = ask
  const repos = world
    .reposOf(viewerId, affiliations as Affiliation[])
    .filter((repo) => world.isVisible(repo, viewerId))
    .filter((repo) => (wanted === 'public' ? !repo.private : wanted === 'private' ? repo.private : true))
  return listRepos(ask, ask.mayRead ? repos : repos.filter((repo) => !repo.private), `${ask.base}/user/repos`)
}

function listRepos(ask: Ask, all: readonly Repo[], address: string): Reply {
  const hidden = new Set(all.filter((repo) => repo.guard === 'sso').map((repo) => repo.ownerId))
  const shown = sortRepos(
    ask,
    all.filter((repo) => repo.guard !== 'sso'),
  )
  const page = readPage(ask.query)
  const body = cutPage(shown, page).map((repo) => repoView(ask.world, repo, ask.base, ask.viewerId))
  const sso = hidden.size > 0 ? { 'x-github-sso': `partial-results; organizations=${[...hidden].join(',')}` } : {}
  return ok(body, { headers: { ...linkHeader(address, ask.query, page, shown.length), ...sso } })
}

/** By name ascending unless asked otherwise; by time descending. */
function sortRepos(ask: Ask, repos: readonly Repo[]): Repo[] {
  const sort = ask.query.get('sort') ?? 'full_name'
  const direction = (ask.query.get('direction') ?? (sort === 'full_name' ? 'asc' : 'desc')) === 'asc' ? 1 : -1
  const time = (repo: Repo) => (sort === 'created' ? repo.createdAt : sort === 'pushed' ? (repo.pushedAt ?? 0) : repo.updatedAt)
  const names = new Map(repos.map((repo) => [repo.id, fullName(ask.world, repo).toLowerCase()]))
  const name = (repo: Repo) => names.get(repo.id) ?? ''
  const byName = (a: Repo, b: Repo) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0)
  const compare = sort === 'full_name' ? byName : (a: Repo, b: Repo) => time(a) - time(b) || a.id - b.id
  return repos.toSorted((a, b) => direction * compare(a, b))
}
