/** How issues look over REST. A pull request is an issue too, with an address that leads to its other side. */
import type { Issue, PullRequest } from '../world/model.ts'
import { packNodeId } from '../world/node-id.ts'
import type { World } from '../world/world.ts'
import { simpleUserById, type View } from './account-view.ts'
import { iso, isoOrNull } from './ask.ts'
import { fullName } from './repo-view.ts'

/** What the issues list is made of. */
export type Entry = Pick<
  Issue,
  'number' | 'repoId' | 'authorId' | 'title' | 'body' | 'state' | 'createdAt' | 'updatedAt' | 'closedAt' | 'comments'
> & {
  readonly id: number
  readonly nodeId: string
  readonly pull: PullRequest | undefined
  readonly closedById: number | null
}

export const issueEntry = (issue: Issue): Entry => ({ ...issue, pull: undefined })
export const pullEntry = (pull: PullRequest): Entry => ({
  ...pull,
  id: pull.issueId,
  // Under either name the node is the pull request.
  nodeId: packNodeId({ kind: 'PR', id: pull.repoId, part: pull.id }),
  pull,
  closedById: pull.mergedById,
})

export const association = (ownerId: number | undefined, authorId: number) => (ownerId === authorId ? 'OWNER' : 'CONTRIBUTOR')

export function issueView(world: World, entry: Entry, base: string): View {
  const repo = world.repos.get(entry.repoId)
  const name = repo ? fullName(world, repo) : ''
  const url = `${base}/repos/${name}/issues/${entry.number}`
  const html = `https://github.com/${name}/${entry.pull ? 'pull' : 'issues'}/${entry.number}`
  return {
    url,
    repository_url: `${base}/repos/${name}`,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: html,
    id: entry.id,
    node_id: entry.nodeId,
    number: entry.number,
    title: entry.title,
    user: simpleUserById(world, entry.authorId, base),
    labels: [],
    state: entry.state,
    locked: false,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: entry.comments,
    created_at: iso(entry.createdAt),
    updated_at: iso(entry.updatedAt),
    closed_at: isoOrNull(entry.closedAt),
    author_association: association(repo?.ownerId, entry.authorId),
    active_lock_reason: null,
    ...(entry.pull ? { draft: false, pull_request: pullPart(entry.pull, base, name, html) } : {}),
    body: entry.body,
    reactions: {
      url: `${url}/reactions`,
      total_count: 0,
      '+1': 0,
      '-1': 0,
      laugh: 0,
      hooray: 0,
      confused: 0,
      heart: 0,
      rocket: 0,
      eyes: 0,
    },
    timeline_url: `${url}/timeline`,
    performed_via_github_app: null,
    state_reason: entry.state === 'closed' && !entry.pull ? 'completed' : null,
  }
}

/** Alone, an issue also says who closed it. */
export const fullIssueView = (world: World, entry: Entry, base: string): View => ({
  ...issueView(world, entry, base),
  closed_by: simpleUserById(world, entry.closedById, base),
})

const pullPart = (pull: PullRequest, base: string, name: string, html: string): View => ({
  url: `${base}/repos/${name}/pulls/${pull.number}`,
  html_url: html,
  diff_url: `${html}.diff`,
  patch_url: `${html}.patch`,
  merged_at: isoOrNull(pull.mergedAt),
})
