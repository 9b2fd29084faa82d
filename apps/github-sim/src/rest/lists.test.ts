import { describe, expect, test } from 'vitest'
import { ada, askAll, linkOf, openSim } from '../testing/open-sim.ts'

const id = 100_001
const byId = `/repositories/${id}`
const one = [{ ...ada, repositories: 1 }]
const shas = (body: unknown) => (body as { sha: string }[]).map(({ sha }) => sha)

describe('lists', () => {
  test('[G-07] links stand in the order prev, next, last, first, and lead by number', async () => {
    const open = await openSim({ people: one })
    const { name } = open.sim.world.repos.get(id)!
    const at = (page: number) => `<${open.sim.url}${byId}/commits?per_page=100&page=${page}>`
    expect((await open.ask(`/repos/ada/${name}/commits?per_page=100`)).headers.get('link')).toBe(
      `${at(2)}; rel="next", ${at(3)}; rel="last"`,
    )
    expect((await open.ask(`${byId}/commits?per_page=100&page=2`)).headers.get('link')).toBe(
      `${at(1)}; rel="prev", ${at(3)}; rel="next", ${at(3)}; rel="last", ${at(1)}; rel="first"`,
    )
    expect((await open.ask(`${byId}/commits?per_page=100&page=3`)).headers.get('link')).toBe(
      `${at(2)}; rel="prev", ${at(1)}; rel="first"`,
    )
    expect((await open.ask('/user/repos')).headers.has('link')).toBe(false)
  })

  test('[G-07] a page has thirty rows unless asked otherwise, and never more than a hundred', async () => {
    const open = await openSim({ people: one })
    expect((await open.ask(`${byId}/commits`)).body).toHaveLength(30)
    expect((await open.ask(`${byId}/commits?per_page=1000`)).body).toHaveLength(100)
    expect((await open.ask(`${byId}/commits?per_page=5&per_page=7&page=9&page=1`)).status).toBe(200)
  })

  test('[G-07] issues go on by cursor, know no last page, and cannot be reached deep by number', async () => {
    const open = await openSim({ people: one, deepPageMax: 100 })
    const first = await open.ask(`${byId}/issues?state=all&per_page=50`)
    expect(linkOf(first, 'next')).toMatch(/\/repositories\/100001\/issues\?state=all&per_page=50&after=[^&]+&page=2$/)
    expect(linkOf(first, 'last')).toBeUndefined()
    expect(await open.ask(`${byId}/issues?state=all&per_page=50&page=2`)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('cursor based pagination') },
    })
    expect(await askAll(open, `${byId}/issues?state=all&per_page=50`)).toHaveLength(110)
  })

  test('[G-07] an issue opened during the walk shifts nothing', async () => {
    const open = await openSim({ people: one })
    const before = (await askAll(open, `${byId}/issues?state=all&per_page=100`)).map((row) => row['number'])
    const first = await open.ask(`${byId}/issues?state=all&per_page=20`)
    open.sim.churn.openIssue(id)
    const rest = await askAll(open, linkOf(first, 'next')!)
    expect([...(first.body as { number: number }[]), ...rest].map((row) => row['number'])).toEqual(before)
  })

  test('[G-07] issues are filtered by state, time and creator, and sorted as asked', async () => {
    const open = await openSim({ people: one })
    const all = [...open.sim.world.issues(id), ...open.sim.world.pulls(id)]
    const since = all.map((item) => item.updatedAt).toSorted((a, b) => a - b)[80]!
    const rows = await askAll(
      open,
      `${byId}/issues?state=all&per_page=100&sort=updated&direction=asc&since=${new Date(since).toISOString()}`,
    )
    const wanted = all
      .filter((item) => item.updatedAt >= since)
      .toSorted((a, b) => a.updatedAt - b.updatedAt || a.number - b.number)
    expect(rows.map((row) => row['number'])).toEqual(wanted.map((item) => item.number))
    expect(await askAll(open, `${byId}/issues?per_page=100`)).toHaveLength(all.filter((item) => item.state === 'open').length)
    expect(await askAll(open, `${byId}/issues?per_page=100&state=all&creator=ada`)).toHaveLength(
      all.filter((item) => item.authorId === 1001).length,
    )
    expect(await askAll(open, `${byId}/issues?state=all&since=1970-01-01T00:00:00Z`)).toEqual([])
    expect(await open.ask(`${byId}/issues?sort=nonsense`)).toMatchObject({ status: 422 })
  })

  test('[G-07] commits are filtered by committer date, author and start', async () => {
    const open = await openSim({ people: one })
    const all = open.sim.world.commits(id)
    const [until, since] = [all[50]!.committedAt, all[150]!.committedAt]
    const query = `per_page=100&since=${new Date(since).toISOString()}&until=${new Date(until).toISOString()}`
    expect(shas(await askAll(open, `${byId}/commits?${query}`))).toEqual(
      all.filter((commit) => commit.committedAt >= since && commit.committedAt <= until).map(({ sha }) => sha),
    )
    const own = all.filter((commit) => commit.authorId === 1001).map(({ sha }) => sha)
    expect(shas(await askAll(open, `${byId}/commits?per_page=100&author=ada`))).toEqual(own)
    expect(shas(await askAll(open, `${byId}/commits?per_page=100&author=account-1001@example.com`))).toEqual(own)
    expect(shas(await askAll(open, `${byId}/commits?per_page=100&sha=${all[100]!.sha}`))[0]).toBe(all[100]!.sha)
    expect(await open.ask(`${byId}/commits?sha=no-branch`)).toMatchObject({ status: 404 })
  })

  test('[G-07] a commit alone has line counts and files that sum up to them', async () => {
    const open = await openSim({ people: one })
    const commit = open.sim.world.commits(id).find(({ changedFiles }) => changedFiles > 2)!
    const { body } = await open.ask(`${byId}/commits/${commit.sha.slice(0, 12)}`)
    expect(body).toMatchObject({ sha: commit.sha, stats: { additions: commit.additions, deletions: commit.deletions } })
    const { files } = body as { files: { additions: number }[] }
    expect(files).toHaveLength(commit.changedFiles)
    expect(files.reduce((all, file) => all + file.additions, 0)).toBe(commit.additions)
    expect((await open.ask(`${byId}/commits/heads/main`)).body).toMatchObject({ sha: open.sim.world.repos.get(id)!.head })
  })

  test('[G-07] comparing tells exactly what is new, late merges included; what was pushed away cannot be compared', async () => {
    const open = await openSim({ people: one })
    const before = open.sim.world.repos.get(id)!.head!
    const late = open.sim.churn.lateMerge(id, 3, 10)
    const { body } = await open.ask(`${byId}/compare/${before}...${late.head}`)
    expect(body).toMatchObject({ status: 'ahead', ahead_by: 4, behind_by: 0, total_commits: 4 })
    expect(new Set(shas((body as { commits: unknown }).commits))).toEqual(new Set(late.added))
    expect((await open.ask(`${byId}/compare/${late.head}...${before}`)).body).toMatchObject({ status: 'behind', behind_by: 4 })
    const forced = open.sim.churn.forcePush(id, 1, 2)
    expect(forced.dropped).toContain(late.head)
    expect(await open.ask(`${byId}/compare/${late.head}...${forced.head}`)).toMatchObject({ status: 404 })
    expect((await open.ask(`${byId}/commits/${late.head}`)).status).toBe(200)
  })

  test('[G-07] an issue has as many comments as it says, and what there is nothing of is an empty list', async () => {
    const open = await openSim({ people: one })
    const issue = open.sim.world.issues(id).find(({ comments }) => comments > 2)!
    const rows = await askAll(open, `${byId}/issues/${issue.number}/comments?per_page=2`)
    expect(rows).toHaveLength(issue.comments)
    expect(Date.parse(rows.at(-1)!['created_at'] as string)).toBe(issue.updatedAt)
    const pull = open.sim.world.pulls(id)[0]!.number
    for (const path of [`issues/${issue.number}/reactions`, `pulls/${pull}/reviews`, 'milestones'])
      expect(await open.ask(`${byId}/${path}`)).toMatchObject({ status: 200, body: [] })
    expect(await open.ask(`${byId}/pulls/99999/reviews`)).toMatchObject({ status: 404 })
    expect(await open.ask(`${byId}/nonsense`)).toMatchObject({ status: 404 })
  })

  test('[G-07] repositories are sorted and selected as asked', async () => {
    const open = await openSim({ people: [{ ...ada, repositories: 20 }] })
    const repos = [...open.sim.world.repos.values()].filter((repo) => repo.ownerId === 1001)
    const ids = async (path: string) => (await askAll(open, path)).map((row) => row['id'])
    expect(await ids('/user/repos?sort=pushed&per_page=7')).toEqual(
      repos.toSorted((a, b) => b.pushedAt! - a.pushedAt!).map((repo) => repo.id),
    )
    expect(await ids('/user/repos?sort=created&direction=asc')).toEqual(
      repos.toSorted((a, b) => a.createdAt - b.createdAt).map((repo) => repo.id),
    )
    expect(await ids('/users/ada/repos?per_page=100')).toHaveLength(repos.filter((repo) => !repo.private).length)
    expect(await open.ask('/user/repos?type=owner&visibility=all')).toMatchObject({ status: 422 })
  })

  test('[G-07] pull requests are sorted by update as asked, and searched by author', async () => {
    const open = await openSim({ people: one })
    const pulls = open.sim.world.pulls(id)
    const rows = await askAll(open, `${byId}/pulls?state=all&sort=updated&direction=desc&per_page=15`)
    const times = rows.map((row) => Date.parse(row['updated_at'] as string))
    expect(times).toEqual(times.toSorted((a, b) => b - a))
    expect(rows).toHaveLength(pulls.length)
    const merged = open.sim.world.pullsBy(1001).filter((pull) => pull.mergedAt !== null)
    expect((await open.ask('/search/issues?q=author:ada+type:pr+is:merged')).body).toMatchObject({ total_count: merged.length })
  })

  test('[G-07] events end at three hundred and say how often to ask', async () => {
    const open = await openSim({ people: [{ ...ada, events: 400 }] })
    const first = await open.ask('/users/ada/events?per_page=100')
    expect(first.headers.get('x-poll-interval')).toBe('60')
    expect(linkOf(first, 'last')).toBe(`${open.sim.url}/user/1001/events?per_page=100&page=3`)
    expect(await askAll(open, '/users/ada/events?per_page=100')).toHaveLength(300)
    open.sim.churn.push(id, 2)
    expect(((await open.ask('/users/ada/events')).body as { type: string }[])[0]).toMatchObject({ type: 'PushEvent' })
  })
})
