/** How pull requests look over REST. Lists leave out what is costly to compute: line counts and who merged. */
import type { PullRequest, Repo } from '../world/model.ts'
import type { World } from '../world/world.ts'
import { simpleUserById, type View } from './account-view.ts'
import { type ApiVersion, iso, isoOrNull } from './ask.ts'
import { association } from './issue-view.ts'
import { fullName, ownerOf, repoView } from './repo-view.ts'

export interface PullContext {
  readonly world: World
  readonly base: string
  readonly viewerId: number | undefined
  readonly version: ApiVersion
}

/** The view of the repository is the same in every row, so a list makes it once. */
export function pullView(context: PullContext, repo: Repo, pull: PullRequest, baseRepoView?: View): View {
  const { world, base, viewerId, version } = context
  const name = fullName(world, repo)
  const url = `${base}/repos/${name}/pulls/${pull.number}`
  const issueUrl = `${base}/repos/${name}/issues/${pull.number}`
  const html = `https://github.com/${name}/pull/${pull.number}`
  const home = baseRepoView ?? repoView(world, repo, base, viewerId)
  const headRepo = pull.headRepoId === repo.id ? repo : pull.headRepoId === null ? undefined : world.repos.get(pull.headRepoId)
  const statuses = `${base}/repos/${name}/statuses/${pull.headSha}`
  const links = {
    self: url,
    html,
    issue: issueUrl,
    comments: `${issueUrl}/comments`,
    review_comments: `${url}/comments`,
    review_comment: `${base}/repos/${name}/pulls/comments{/number}`,
    commits: `${url}/commits`,
    statuses,
  }
  const side = (ref: string, sha: string, of: Repo | undefined, view: View | null) => ({
    label: `${of ? ownerOf(world, of) : 'unknown'}:${ref}`,
    ref,
    sha,
    user: of ? simpleUserById(world, of.ownerId, base) : null,
    repo: view,
  })
  return {
    url,
    id: pull.id,
    node_id: pull.nodeId,
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: issueUrl,
    number: pull.number,
    state: pull.state,
    locked: false,
    title: pull.title,
    user: simpleUserById(world, pull.authorId, base),
    body: pull.body,
    created_at: iso(pull.createdAt),
    updated_at: iso(pull.updatedAt),
    closed_at: isoOrNull(pull.closedAt),
    merged_at: isoOrNull(pull.mergedAt),
    ...(version === '2022-11-28' ? { merge_commit_sha: pull.mergedAt === null ? null : pull.headSha, assignee: null } : {}),
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    labels: [],
    milestone: null,
    draft: false,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: links.review_comment,
    comments_url: links.comments,
    statuses_url: statuses,
    head: side(
      `topic-${pull.number}`,
      pull.headSha,
      headRepo,
      headRepo === repo ? home : headRepo ? repoView(world, headRepo, base, viewerId) : null,
    ),
    base: side(repo.defaultBranch, pull.baseSha, repo, home),
    _links: Object.fromEntries(Object.entries(links).map(([rel, href]) => [rel, { href }])),
    author_association: association(repo.ownerId, pull.authorId),
    auto_merge: null,
    active_lock_reason: null,
  }
}

export function fullPullView(context: PullContext, repo: Repo, pull: PullRequest): View {
  return {
    ...pullView(context, repo, pull),
    merged: pull.mergedAt !== null,
    mergeable: pull.state === 'open' ? true : null,
    rebaseable: pull.state === 'open' ? true : null,
    mergeable_state: pull.state === 'open' ? 'clean' : 'unknown',
    merged_by: simpleUserById(context.world, pull.mergedById, context.base),
    comments: pull.comments,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: 1,
    additions: pull.additions,
    deletions: pull.deletions,
    changed_files: pull.changedFiles,
  }
}
