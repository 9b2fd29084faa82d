/** What people do between two collections, deed by deed: the next one finds all of it, and no more than it has to. */
import { describe, expect } from 'vitest'
import type { Collecting } from '../../../../test/support/collecting.ts'
import { test } from '../../../../test/support/collecting.ts'

const strategies = ['graphql', 'rest'] as const
/** What its lists do not tell. */
const untold = {
  graphql: [],
  rest: [
    'repository.head',
    'issue.closed_by_id',
    ...['additions', 'deletions', 'changed_files', 'merged_by_id'].map((field) => `pull_request.${field}`),
  ],
}

type Deed = (sim: Collecting['sim'], repo: number, other: number) => void
const deeds: Record<string, Deed> = {
  'a push': ({ churn }, repo) => churn.push(repo, 3),
  'a push of more than a page': ({ churn }, repo) => churn.push(repo, 130),
  'commits that were merged late': ({ churn }, repo) => churn.lateMerge(repo, 3, 20),
  'a force push': ({ churn }, repo) => churn.forcePush(repo, 2, 1),
  'a force push that only takes away': ({ churn }, repo) => churn.forcePush(repo, 3, 0),
  'an issue that is opened, one that is closed, and a comment': ({ churn }, repo, other) => {
    churn.openIssue(repo)
    churn.closeIssue(repo)
    churn.commentIssue(other)
  },
  'a pull request that is opened and one that is merged': ({ churn }, repo, other) => {
    churn.openPull(repo)
    churn.mergePull(other)
  },
  'a rename': ({ churn }, repo) => churn.rename(repo),
  'a rename after which somebody takes the name': ({ churn }, repo) => churn.renameWithReuse(repo),
  'a star': ({ churn }, repo) => churn.star(repo),
  'a new repository': ({ churn, world }, repo) => {
    const owner = world.repos.get(repo)?.ownerId as number
    churn.push(churn.createRepo(owner, 'brand-new'), 4)
  },
  'a deletion': ({ churn }, repo) => churn.deleteRepo(repo),
  'pull requests that are disabled': ({ churn }, repo) => churn.disablePulls(repo),
  'issues that are disabled': ({ churn }, repo) => churn.disableIssues(repo),
  'a repository that is emptied': ({ churn }, repo) => churn.emptyRepo(repo),
  'a block': ({ churn }, repo) => churn.block(repo),
  'single sign-on': ({ churn }, repo) => churn.guard(repo, 'sso'),
  'a list of allowed addresses': ({ churn }, repo) => churn.guard(repo, 'ip'),
  'another login': ({ churn }) => churn.renameLogin('ada', 'lovelace'),
}

describe.each(strategies)('by %s', (strategy) => {
  test.for(Object.entries(deeds))('[C-06] [C-08] the next collection finds %s', async ([, deed], { collecting }) => {
    const scene = await collecting({ parts: { strategy } })
    const { sim, collect, difference, userId } = scene
    expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
    expect(await difference(untold[strategy])).toEqual([])
    sim.clock.advance(3_600_000)
    const repos = [...sim.world.repos.values()]
      .filter((repo) => repo.ownerId === userId && repo.head !== null)
      .map(({ id }) => id)
    deed(sim, repos[0] as number, repos[1] as number)
    expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
    expect(await difference(untold[strategy])).toEqual([])
  })
})
