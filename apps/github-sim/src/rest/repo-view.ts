/** How repositories look over REST, in lists and alone. */
import type { Repo } from '../world/model.ts'
import type { World } from '../world/world.ts'
import { simpleUser, simpleUserById, type View } from './account-view.ts'
import { iso, isoOrNull } from './ask.ts'

export const ownerOf = (world: World, repo: Repo) => world.accounts.get(repo.ownerId)?.login ?? 'ghost'
export const fullName = (world: World, repo: Repo) => `${ownerOf(world, repo)}/${repo.name}`

const plainPaths = [
  'forks',
  'teams',
  'hooks',
  'events',
  'tags',
  'languages',
  'stargazers',
  'contributors',
  'subscribers',
  'subscription',
  'merges',
  'downloads',
  'deployments',
] as const
const templatePaths: readonly (readonly [name: string, path: string])[] = [
  ['keys', 'keys{/key_id}'],
  ['collaborators', 'collaborators{/collaborator}'],
  ['issue_events', 'issues/events{/number}'],
  ['assignees', 'assignees{/user}'],
  ['branches', 'branches{/branch}'],
  ['blobs', 'git/blobs{/sha}'],
  ['git_tags', 'git/tags{/sha}'],
  ['git_refs', 'git/refs{/sha}'],
  ['trees', 'git/trees{/sha}'],
  ['statuses', 'statuses/{sha}'],
  ['commits', 'commits{/sha}'],
  ['git_commits', 'git/commits{/sha}'],
  ['comments', 'comments{/number}'],
  ['issue_comment', 'issues/comments{/number}'],
  ['contents', 'contents/{+path}'],
  ['compare', 'compare/{base}...{head}'],
  ['archive', '{archive_format}{/ref}'],
  ['issues', 'issues{/number}'],
  ['pulls', 'pulls{/number}'],
  ['milestones', 'milestones{/number}'],
  ['notifications', 'notifications{?since,all,participating}'],
  ['labels', 'labels{/name}'],
  ['releases', 'releases{/id}'],
]

export function repoView(world: World, repo: Repo, base: string, viewerId: number | undefined): View {
  const owner = world.accounts.get(repo.ownerId)
  const name = fullName(world, repo)
  const url = `${base}/repos/${name}`
  const view: View = {
    id: repo.id,
    node_id: repo.nodeId,
    name: repo.name,
    full_name: name,
    private: repo.private,
    owner: owner ? simpleUser(owner, base) : null,
    html_url: `https://github.com/${name}`,
    description: repo.description,
    fork: repo.fork,
    url,
  }
  for (const path of plainPaths) view[`${path}_url`] = `${url}/${path}`
  for (const [key, path] of templatePaths) view[`${key}_url`] = `${url}/${path}`
  const openIssues = openCount(world, repo)
  const mine = viewerId === repo.ownerId
  const shared = viewerId !== undefined && (mine || repo.collaboratorIds.includes(viewerId))
  return Object.assign(view, {
    created_at: iso(repo.createdAt),
    updated_at: iso(repo.updatedAt),
    pushed_at: isoOrNull(repo.pushedAt),
    git_url: `git://github.com/${name}.git`,
    ssh_url: `git@github.com:${name}.git`,
    clone_url: `https://github.com/${name}.git`,
    svn_url: `https://github.com/${name}`,
    homepage: null,
    size: repo.pushedAt === null ? 0 : 108,
    stargazers_count: repo.stars,
    watchers_count: repo.stars,
    language: repo.language,
    has_issues: repo.hasIssues,
    has_projects: true,
    has_downloads: true,
    has_wiki: true,
    has_pages: false,
    has_discussions: false,
    has_pull_requests: repo.hasPullRequests,
    forks_count: 0,
    mirror_url: null,
    archived: repo.archived,
    disabled: repo.blocked !== null,
    open_issues_count: openIssues,
    license: null,
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: [],
    visibility: repo.private ? 'private' : 'public',
    forks: 0,
    open_issues: openIssues,
    watchers: repo.stars,
    default_branch: repo.defaultBranch,
    ...(viewerId === undefined ? {} : { permissions: { admin: mine, maintain: mine, push: shared, triage: shared, pull: true } }),
  })
}

export function fullRepoView(world: World, repo: Repo, base: string, viewerId: number | undefined): View {
  const owner = world.accounts.get(repo.ownerId)
  return {
    ...repoView(world, repo, base, viewerId),
    ...(owner?.type === 'Organization' ? { organization: simpleUserById(world, owner.id, base) } : {}),
    network_count: 0,
    subscribers_count: 0,
  }
}

/** Issues and pull requests together, as GitHub counts. */
function openCount(world: World, repo: Repo): number {
  let open = 0
  for (const issue of world.issues(repo.id)) if (issue.state === 'open') open++
  for (const pull of world.pulls(repo.id)) if (pull.state === 'open') open++
  return open
}
