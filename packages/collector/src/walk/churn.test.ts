/** What people do between two collections, each deed in a repository of its own: the next one finds all of it. */
import { describe, expect } from 'vitest'
import { type Collecting, test } from '../../../../test/support/collecting.ts'

/** What lists of REST do not tell. */
const untold = {
  graphql: [],
  rest: [
    'repository.head',
    'issue.closed_by_id',
    ...['additions', 'deletions', 'changed_files', 'merged_by_id'].map((field) => `pull_request.${field}`),
  ],
}

type Deed = (churn: Collecting['sim']['churn'], repo: number) => unknown
const groups: Record<string, Deed[]> = {
  'pushes, late merges and force pushes': [
    (churn, repo) => churn.push(repo, 3),
    (churn, repo) => churn.push(repo, 130),
    (churn, repo) => churn.lateMerge(repo, 3, 20),
    (churn, repo) => churn.forcePush(repo, 2, 1),
    (churn, repo) => churn.forcePush(repo, 3, 0),
    (churn, repo) => churn.push(repo, 1) && churn.forcePush(repo, 4, 2) && churn.lateMerge(repo, 2, 30),
    (churn, repo) => churn.emptyRepo(repo),
    (churn) => churn.push(churn.createRepo('ada', 'brand-new'), 4),
  ],
  'issues and pull requests that are opened, closed, merged and talked about': [
    (churn, repo) => churn.openIssue(repo),
    (churn, repo) => churn.closeIssue(repo),
    (churn, repo) => churn.commentIssue(repo),
    (churn, repo) => churn.openPull(repo),
    (churn, repo) => churn.mergePull(repo),
    (churn, repo) => churn.openIssue(repo) && churn.closeIssue(repo) && churn.openPull(repo),
    (churn, repo) => churn.disablePulls(repo),
    (churn, repo) => churn.disableIssues(repo),
  ],
  'renames, transfers, deletions, blocks and closed doors': [
    (churn, repo) => churn.rename(repo),
    (churn, repo) => churn.renameWithReuse(repo),
    (churn, repo) => churn.transfer(repo, 'grace'),
    (churn, repo) => churn.deleteRepo(repo),
    (churn, repo) => churn.block(repo),
    (churn, repo) => churn.guard(repo, 'sso'),
    (churn, repo) => churn.guard(repo, 'ip'),
    (churn, repo) => churn.star(repo, 5) && churn.renameLogin('ada', 'lovelace'),
  ],
}

const counts = { issues: 50, pullRequests: 40, commits: 160 }
const people = [
  { login: 'ada', repositories: 9, ownPullRequestsElsewhere: 4, events: 20, ...counts },
  { login: 'grace', repositories: 1, issues: 1, pullRequests: 1, commits: 1 },
]

describe.each(['graphql', 'rest'] as const)('by %s', (strategy) => {
  test.for(Object.entries(groups))('[C-06] [C-08] the next collection finds %s', async ([, deeds], { collecting }) => {
    const { sim, collect, difference, userId } = await collecting({ parts: { strategy }, sim: { people } })
    expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
    expect(await difference(untold[strategy])).toEqual([])
    sim.clock.advance(3_600_000)
    const repos = [...sim.world.repos.values()].filter((repo) => repo.ownerId === userId && repo.head !== null)
    for (const [at, deed] of deeds.entries()) deed(sim.churn, repos[at]?.id as number)
    expect((await difference(untold[strategy])).length).toBeGreaterThan(0)
    expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
    expect(await difference(untold[strategy])).toEqual([])
  })
})

test('[C-05] [C-06] a day of churn, collected every few hours, loses nothing and costs little', async ({ collecting }) => {
  const { sim, collect, difference, spent } = await collecting({ sim: { people } })
  await collect()
  spent()
  for (let round = 0; round < 4; round++) {
    sim.clock.advance(6 * 3_600_000)
    sim.churn.step({ share: 0.3 })
    expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
    expect(await difference()).toEqual([])
    expect(spent()).toBeLessThanOrEqual(10)
  }
})
