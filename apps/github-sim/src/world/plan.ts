/**
 * Decides, before anything is generated, who exists, which repositories there are and how much is in each. Only numbers are
 * kept a repository; its commits, issues and pull requests are made from the seed when somebody asks for them.
 */
import type { RepoFacts } from './lazy-repo.ts'
import type { Account, PersonPlan } from './model.ts'
import { packNodeId } from './node-id.ts'
import { createRandom, type Random, splitTotal } from './random.ts'

export interface RepoPlan {
  readonly repoId: number
  /** The person for whom it was made, its main author even after a transfer. */
  readonly personId: number
  readonly elsewhere: boolean
  readonly commits: number
  readonly issues: number
  readonly pulls: number
  readonly firstIssueId: number
  readonly firstPullId: number
  readonly createdAt: number
  readonly pushedAt: number
}

export interface WorldPlan {
  readonly accounts: Account[]
  readonly repos: { readonly facts: RepoFacts; readonly plan: RepoPlan }[]
  readonly events: Map<number, number>
  readonly nextIssueId: number
  readonly nextPullId: number
}

const organizationId = 950
export const contributorIds = [901, 902, 903, 904, 905, 906] as const
const firstPersonId = 1001
const firstRepoId = 100_001
const daySeconds = 86_400
const none: readonly never[] = []
const languages = ['TypeScript', 'Rust', 'Go', 'Python', 'C', null] as const
const nouns = ['harbor', 'lantern', 'meadow', 'compass', 'orchard', 'granite', 'ferry', 'loom', 'kiln', 'anchor'] as const

export function planWorld(seed: number, people: readonly PersonPlan[], start: number): WorldPlan {
  const accounts = [
    ...contributorIds.map((id, at) => account(id, `contributor-${at + 1}`, 'User', start, seed)),
    account(organizationId, 'example-org', 'Organization', start, seed),
  ]
  const repos: WorldPlan['repos'] = []
  const events = new Map<number, number>()
  let issueId = 1_000_001
  let pullId = 500_001
  people.forEach((person, at) => {
    const id = firstPersonId + at
    accounts.push(account(id, person.login, 'User', start, seed))
    events.set(id, person.events ?? 30)
    const random = createRandom(seed, 'plan', id)
    const add = (name: string, commits: number, issues: number, pulls: number, elsewhere: boolean) => {
      const repoId = firstRepoId + repos.length
      const times = repoTimes(random, start)
      const plan = {
        repoId,
        personId: id,
        elsewhere,
        commits,
        issues,
        pulls,
        firstIssueId: issueId,
        firstPullId: pullId,
        ...times,
      }
      issueId += issues + pulls
      pullId += pulls
      repos.push({ facts: repoFacts(plan, name, random), plan })
    }
    const own = person.repositories
    const commits = splitTotal(person.commits, own, random)
    const issues = splitTotal(person.issues, own, random)
    const pulls = splitTotal(person.pullRequests, own, random)
    for (let at = 0; at < own; at++)
      add(`${nouns[at % nouns.length]}-${at + 1}`, commits[at] ?? 0, issues[at] ?? 0, pulls[at] ?? 0, false)
    const elsewhere = person.ownPullRequestsElsewhere ?? 0
    const places = Math.min(5, Math.ceil(elsewhere / 10))
    splitTotal(elsewhere, places, random).forEach((count, place) => {
      add(`${person.login}-target-${place + 1}`, 3, 1, count, true)
    })
  })
  return { accounts, repos, events, nextIssueId: issueId, nextPullId: pullId }
}

function account(id: number, login: string, type: Account['type'], start: number, seed: number): Account {
  const random = createRandom(seed, 'account', id)
  const createdAt = start - random.whole(1500, 4000) * daySeconds * 1000
  return {
    id,
    nodeId: packNodeId({ kind: type === 'User' ? 'U' : 'O', id }),
    login,
    type,
    name: random.chance(0.8) ? `Account ${id}` : null,
    followers: random.whole(0, 500),
    createdAt,
    updatedAt: start - random.whole(1, 200) * daySeconds * 1000,
    formerLogins: none,
    suspended: false,
  }
}

function repoTimes(random: Random, start: number): { createdAt: number; pushedAt: number } {
  const createdAt = start - random.whole(90 * daySeconds, 1400 * daySeconds) * 1000
  return { createdAt, pushedAt: start - random.whole(3600, 60 * daySeconds) * 1000 }
}

function repoFacts(plan: RepoPlan, name: string, random: Random): RepoFacts {
  return {
    id: plan.repoId,
    ownerId: plan.elsewhere ? organizationId : plan.personId,
    name,
    private: !plan.elsewhere && random.chance(0.1),
    fork: !plan.elsewhere && random.chance(0.08),
    archived: !plan.elsewhere && random.chance(0.05),
    stars: Math.floor(random.next() ** 6 * 2000),
    description: random.chance(0.7) ? `What ${name} is for` : null,
    language: random.pick(languages),
    createdAt: plan.createdAt,
    updatedAt: plan.pushedAt - random.whole(0, 30 * daySeconds) * 1000,
    pushedAt: plan.commits > 0 ? plan.pushedAt : null,
    defaultBranch: 'main',
    hasIssues: true,
    hasPullRequests: true,
  }
}
