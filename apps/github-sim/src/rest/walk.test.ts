import { Octokit } from '@octokit/core'
import { paginateRest } from '@octokit/plugin-paginate-rest'
import { describe, expect, test } from 'vitest'
import { ada, askAll, type OpenSim, openSim } from '../testing/open-sim.ts'

type Row = Record<string, any>
const time = (text: string | null) => (text === null ? null : Date.parse(text))
const byNumber = (a: Row, b: Row) => a['number'] - b['number']

/** What anybody collects who asks for everything, one call a commit and one a pull request. */
async function walkAll(open: OpenSim) {
  const repos = (await askAll(open, '/user/repos?per_page=100')).toSorted((a, b) => (a['id'] as number) - (b['id'] as number))
  const commits: Record<number, Row[]> = {}
  const issues: Record<number, Row[]> = {}
  const pulls: Record<number, Row[]> = {}
  const one = async (path: string) => (await open.ask(path)).body as Row
  for (const { id, disabled } of repos as Row[]) {
    if (disabled) continue
    const at = `/repositories/${id}`
    const first = await open.ask(`${at}/commits?per_page=100`)
    commits[id] = []
    if (first.status !== 409)
      for (const { sha } of (await askAll(open, `${at}/commits?per_page=100`)) as Row[])
        commits[id].push(await one(`${at}/commits/${sha}`))
    const list = (await askAll(open, `${at}/issues?state=all&per_page=100`)) as Row[]
    issues[id] = []
    for (const row of list.filter((row) => !row['pull_request'])) issues[id].push(await one(`${at}/issues/${row['number']}`))
    pulls[id] = []
    if ((await open.ask(`${at}/pulls`)).status === 200)
      for (const { number } of (await askAll(open, `${at}/pulls?state=all&per_page=100`)) as Row[])
        pulls[id].push(await one(`${at}/pulls/${number}`))
  }
  return { repos: repos as Row[], commits, issues, pulls }
}

async function expectTruth(open: OpenSim) {
  const truth = open.sim.world.groundTruth('ada')!
  const found = await walkAll(open)
  expect(
    found.repos.map((row) => [
      row['id'],
      row['full_name'],
      row['stargazers_count'],
      time(row['pushed_at']),
      time(row['updated_at']),
    ]),
  ).toEqual(
    truth.repositories.map((repo) => [repo.id, `${repo.ownerLogin}/${repo.name}`, repo.stars, repo.pushedAt, repo.updatedAt]),
  )
  for (const { id, state } of truth.repositories) {
    if (state === 'blocked') continue
    expect(
      found.commits[id]!.map(({ sha, author, stats, commit }) => ({
        sha,
        authorId: author?.id ?? null,
        additions: stats.additions,
        deletions: stats.deletions,
        authoredAt: time(commit.author.date),
        committedAt: time(commit.committer.date),
      })),
    ).toEqual(truth.commits[id])
    expect(
      found.issues[id]!.map((row) => [
        row['id'],
        row['number'],
        row['user'].id,
        row['state'],
        row['comments'],
        time(row['updated_at']),
        row['closed_by']?.id ?? null,
      ]).toSorted((a, b) => a[1] - b[1]),
    ).toEqual(
      truth.issues[id]!.map((issue) => [
        issue.id,
        issue.number,
        issue.authorId,
        issue.state,
        issue.comments,
        issue.updatedAt,
        issue.closedById,
      ]),
    )
    expect(
      found.pulls[id]!.toSorted(byNumber).map((row) => [
        row['id'],
        row['user'].id,
        row['additions'],
        row['deletions'],
        row['changed_files'],
        time(row['merged_at']),
        row['merged_by']?.id ?? null,
      ]),
    ).toEqual(
      truth.pulls[id]!.map((pull) => [
        pull.id,
        pull.authorId,
        pull.additions,
        pull.deletions,
        pull.changedFiles,
        pull.mergedAt,
        pull.mergedById,
      ]),
    )
  }
  const own = await open.ask('/search/issues?q=author:ada+type:pr&per_page=100')
  const ownIds = (own.body as { items: Row[] }).items.map((item) => item['id']).toSorted((a, b) => a - b)
  expect(ownIds).toEqual(truth.ownPulls.map((pull) => pull.issueId).toSorted((a, b) => a - b))
}

describe('walks', () => {
  test('[G-07] a naive walk over REST collects exactly the ground truth', async () => {
    const open = await openSim()
    await expectTruth(open)
  })

  test('[G-07] and so it does after everything that can happen has happened', async () => {
    const open = await openSim({ people: [{ ...ada, repositories: 9, commits: 120 }] })
    const { churn, clock } = open.sim
    const ids = [...open.sim.world.repos.keys()]
    const deeds = [
      'push',
      'lateMerge',
      'forcePush',
      'rename',
      'renameWithReuse',
      'disablePulls',
      'block',
      'emptyRepo',
      'deleteRepo',
    ] as const
    for (const [at, deed] of deeds.entries()) {
      clock.advance(60_000)
      churn[deed](ids[at]!)
    }
    churn.transfer(ids[0]!, 'example-org')
    for (const deed of ['openIssue', 'closeIssue', 'commentIssue', 'openPull', 'mergePull', 'star'] as const) churn[deed](ids[1]!)
    churn.step({ share: 0.5, gentle: true })
    await expectTruth(open)
  })

  test('[G-07] plain Octokit with its paginating plugin goes through everything', async () => {
    const open = await openSim({ people: [{ ...ada, repositories: 2 }] })
    const octokit = new (Octokit.plugin(paginateRest))({ baseUrl: open.sim.url, auth: open.sim.tokenOf('ada') })
    const truth = open.sim.world.groundTruth('ada')!
    const repos: Row[] = await octokit.paginate('GET /user/repos', { per_page: 1 })
    expect(repos).toHaveLength(2)
    for (const { owner, name, id } of repos) {
      const where = { owner: owner.login as string, repo: name as string, per_page: 10 }
      expect(await octokit.paginate('GET /repos/{owner}/{repo}/commits', where)).toHaveLength(truth.commits[id as number]!.length)
      expect(await octokit.paginate('GET /repos/{owner}/{repo}/issues', { ...where, state: 'all' })).toHaveLength(
        truth.issues[id as number]!.length + truth.pulls[id as number]!.length,
      )
      expect(await octokit.paginate('GET /repos/{owner}/{repo}/pulls', { ...where, state: 'all' })).toHaveLength(
        truth.pulls[id as number]!.length,
      )
    }
    expect(await octokit.paginate('GET /search/issues', { q: 'author:ada type:pr', per_page: 10 })).toHaveLength(
      truth.ownPulls.length,
    )
    expect(await octokit.paginate('GET /users/{username}/events', { username: 'ada', per_page: 7 })).toHaveLength(30)
  })
})
