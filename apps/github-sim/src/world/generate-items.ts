/**
 * Makes the issues and pull requests of one repository from the seed. They share one row of numbers, in the order of their
 * creation, as they do on GitHub.
 */
import { createHash } from 'node:crypto'
import type { Issue, PullRequest } from './model.ts'
import { packNodeId } from './node-id.ts'
import { contributorIds, type RepoPlan } from './plan.ts'
import { createRandom, type Random } from './random.ts'

export interface Items {
  readonly issues: Issue[]
  readonly pulls: PullRequest[]
  nextNumber: number
}

/** Both lists ascend by number. */
export function generateItems(seed: number, plan: RepoPlan): Items {
  const random = createRandom(seed, 'items', plan.repoId)
  const issues: Issue[] = []
  const pulls: PullRequest[] = []
  const total = plan.issues + plan.pulls
  const spanSeconds = Math.floor((plan.pushedAt - plan.createdAt) / 1000)
  for (let at = 0; at < total; at++) {
    const createdAt = plan.createdAt + Math.floor((spanSeconds * (at + 1)) / (total + 1)) * 1000
    const pullsLeft = plan.pulls - pulls.length
    const isPull = random.next() < pullsLeft / (total - at)
    const life = generateLife(random, createdAt, plan.pushedAt)
    const authorId = plan.elsewhere || random.chance(0.7) ? plan.personId : random.pick(contributorIds)
    const shared = { number: at + 1, repoId: plan.repoId, authorId, createdAt, ...life }
    const issueId = plan.firstIssueId + at
    if (isPull) pulls.push(generatePull(random, shared, issueId, plan.firstPullId + pulls.length, plan))
    else
      issues.push({
        id: issueId,
        nodeId: packNodeId({ kind: 'I', id: plan.repoId, part: issueId }),
        title: `Issue ${at + 1}: something is not as it should be`,
        body: random.chance(0.8) ? 'Steps, what was expected, and what came instead.' : null,
        closedById: life.closedAt === null ? null : random.chance(0.6) ? plan.personId : random.pick(contributorIds),
        ...shared,
      })
  }
  return { issues, pulls, nextNumber: total + 1 }
}

type Life = Pick<Issue, 'state' | 'updatedAt' | 'closedAt' | 'comments'>
type Shared = Life & Pick<Issue, 'number' | 'repoId' | 'authorId' | 'createdAt'>

function generateLife(random: Random, createdAt: number, end: number): Life {
  const later = (from: number) => from + Math.floor(((end - from) / 1000) * random.next() ** 2) * 1000
  const closedAt = random.chance(0.6) ? later(createdAt) : null
  const comments = random.chance(0.5) ? random.whole(1, 9) : 0
  return { state: closedAt === null ? 'open' : 'closed', closedAt, comments, updatedAt: later(closedAt ?? createdAt) }
}

function generatePull(random: Random, shared: Shared, issueId: number, id: number, plan: RepoPlan): PullRequest {
  const merged = shared.closedAt !== null && random.chance(0.8)
  return {
    id,
    nodeId: packNodeId({ kind: 'PR', id: plan.repoId, part: id }),
    issueId,
    title: `Change ${shared.number}: make it so`,
    body: random.chance(0.8) ? 'What it does and why.' : null,
    headRepoId: plan.elsewhere && random.chance(0.1) ? null : plan.repoId,
    mergedAt: merged ? shared.closedAt : null,
    mergedById: merged ? (random.chance(0.7) ? plan.personId : random.pick(contributorIds)) : null,
    additions: random.whole(1, 500),
    deletions: random.whole(0, 200),
    changedFiles: random.whole(1, 20),
    headSha: createHash('sha1').update(`pull ${id}`).digest('hex'),
    baseSha: createHash('sha1').update(`base ${id}`).digest('hex'),
    ...shared,
  }
}
