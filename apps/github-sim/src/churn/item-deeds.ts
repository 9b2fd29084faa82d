/** Deeds on issues and pull requests. Each moves `updatedAt`, as every visible change does on GitHub. */
import { createHash } from 'node:crypto'
import type { Issue, PullRequest, Repo } from '../world/model.ts'
import { packNodeId } from '../world/node-id.ts'
import type { World } from '../world/world.ts'
import type { Moment } from './push.ts'

export function openIssue(world: World, repo: Repo, { now }: Moment): Issue {
  const id = world.nextIssueId()
  const { nextNumber: number } = world.changeItems(repo.id)
  const issue: Issue = {
    id,
    nodeId: packNodeId({ kind: 'I', id: repo.id, part: id }),
    number,
    repoId: repo.id,
    authorId: world.mainAuthor(repo),
    title: `Issue ${number}: something new`,
    body: null,
    state: 'open',
    createdAt: now,
    updatedAt: now,
    closedAt: null,
    closedById: null,
    comments: 0,
  }
  world.addIssue(issue)
  return issue
}

/** A number picks one; without it, chance does. */
export function closeIssue(world: World, repo: Repo, number: number | undefined, moment: Moment): Issue | undefined {
  const issue = pick(world.changeItems(repo.id).issues, (one) => one.state === 'open', number, moment)
  if (!issue) return undefined
  return Object.assign(issue, {
    state: 'closed',
    closedAt: moment.now,
    closedById: world.mainAuthor(repo),
    updatedAt: moment.now,
  } satisfies Partial<Issue>)
}

export function commentIssue(world: World, repo: Repo, number: number | undefined, moment: Moment): Issue | undefined {
  const issue = pick(world.changeItems(repo.id).issues, () => true, number, moment)
  return issue && Object.assign(issue, { comments: issue.comments + 1, updatedAt: moment.now })
}

export function deleteIssue(world: World, repo: Repo, number: number | undefined, moment: Moment): Issue | undefined {
  const { issues } = world.changeItems(repo.id)
  const issue = pick(issues, () => true, number, moment)
  if (issue) issues.splice(issues.indexOf(issue), 1)
  return issue
}

export function openPull(world: World, repo: Repo, authorId: number | undefined, { now, random }: Moment): PullRequest {
  const id = world.nextPullId()
  const { nextNumber: number } = world.changeItems(repo.id)
  const pull: PullRequest = {
    id,
    nodeId: packNodeId({ kind: 'PR', id: repo.id, part: id }),
    issueId: world.nextIssueId(),
    number,
    repoId: repo.id,
    headRepoId: repo.id,
    authorId: authorId ?? world.mainAuthor(repo),
    title: `Change ${number}: something new`,
    body: null,
    state: 'open',
    createdAt: now,
    updatedAt: now,
    closedAt: null,
    mergedAt: null,
    mergedById: null,
    comments: 0,
    additions: random.whole(1, 500),
    deletions: random.whole(0, 200),
    changedFiles: random.whole(1, 20),
    headSha: createHash('sha1').update(`pull ${id}`).digest('hex'),
    baseSha: repo.head ?? createHash('sha1').update(`base ${id}`).digest('hex'),
  }
  world.addPull(pull)
  return pull
}

export function mergePull(world: World, repo: Repo, number: number | undefined, moment: Moment): PullRequest | undefined {
  const pull = pick(world.changeItems(repo.id).pulls, (one) => one.state === 'open', number, moment)
  const { now } = moment
  if (!pull) return undefined
  return Object.assign(pull, {
    state: 'closed',
    closedAt: now,
    mergedAt: now,
    mergedById: world.mainAuthor(repo),
    updatedAt: now,
  } satisfies Partial<PullRequest>)
}

function pick<T extends { readonly number: number }>(
  items: readonly T[],
  fits: (item: T) => boolean,
  number: number | undefined,
  { random }: Moment,
): T | undefined {
  if (number !== undefined) return items.find((item) => item.number === number)
  const candidates = items.filter(fits)
  return candidates.length === 0 ? undefined : random.pick(candidates)
}
