import { describe, expect, test } from 'vitest'
import type { GroundTruth } from '../world/ground-truth.ts'
import { collectorQueries } from './collector-queries.ts'
import { isoTime } from './scalars.ts'
import { createStage, type Stage, type Tree } from './stage.suite.ts'

type Variables = Record<string, unknown>

/** Follows `endCursor` to the end. */
async function walk(stage: Stage, query: string, variables: Variables, list: (data: Tree) => Tree): Promise<Tree[]> {
  const found: Tree[] = []
  for (let after: string | null = null; ; ) {
    const { data, errors } = await stage.ask(query, { ...variables, after })
    expect(errors).toBeUndefined()
    const page = list(data)
    const rows = page.nodes ?? page.edges.map((edge: Tree) => edge.node)
    found.push(...rows)
    expect(page.totalCount).toBeGreaterThanOrEqual(found.length)
    if (!page.pageInfo.hasNextPage) {
      expect(page.totalCount).toBe(found.length)
      return found
    }
    expect(rows).toHaveLength(Number(variables['first']))
    after = page.pageInfo.endCursor
  }
}

const time = (ms: number | null) => (ms === null ? null : isoTime(ms))
const sorted = <T extends { id: number }>(rows: readonly T[]) => rows.toSorted((a, b) => a.id - b.id)

describe('paging through everything gives the ground truth', () => {
  const stage = createStage()
  const { world } = stage
  const truth = world.groundTruth('ada') as GroundTruth
  const user = world.byLogin('ada')!.nodeId

  test.each([1, 5, 100])('[G-07] repositories in every order, %i a page', async (first) => {
    for (const by of ['CREATED_AT', 'UPDATED_AT', 'PUSHED_AT', 'NAME', 'STARGAZERS']) {
      const found = await walk(
        stage,
        collectorQueries.Repositories,
        { user, first, by, of: ['OWNER'] },
        (data) => data.node.repositories,
      )
      const rows = found.map((repo) => ({
        id: repo.databaseId,
        name: repo.name,
        ownerId: repo.owner.databaseId,
        stars: repo.stargazerCount,
        pushedAt: repo.pushedAt,
        updatedAt: repo.updatedAt,
        head: repo.defaultBranchRef?.target.oid ?? null,
        commits: repo.defaultBranchRef?.target.history.totalCount ?? 0,
        newestIssue: repo.issues.nodes[0]?.updatedAt ?? null,
      }))
      const expected = truth.repositories.map((repo) => ({
        id: repo.id,
        name: repo.name,
        ownerId: repo.ownerId,
        stars: repo.stars,
        pushedAt: time(repo.pushedAt),
        updatedAt: time(repo.updatedAt),
        head: repo.head,
        commits: truth.commits[repo.id]!.length,
        newestIssue: time(
          truth.issues[repo.id]!.reduce<number | null>((newest, one) => Math.max(newest ?? 0, one.updatedAt), null),
        ),
      }))
      expect(sorted(rows)).toEqual(expected)
    }
  })

  test.each([7, 100])('[G-07] commits from the head, newest first, %i a page', async (first) => {
    for (const repo of truth.repositories) {
      if (repo.head === null) continue
      const variables = { repo: repo.nodeId, oid: repo.head, first }
      const found = await walk(stage, collectorQueries.Commits, variables, (data) => data.node.object.history)
      const rows = found.map((commit) => ({
        sha: commit.oid,
        authorId: commit.author.user?.databaseId ?? null,
        additions: commit.additions,
        deletions: commit.deletions,
        authoredAt: Date.parse(commit.authoredDate),
        committedAt: Date.parse(commit.committedDate),
      }))
      expect(rows).toEqual(truth.commits[repo.id])
    }
  })

  test.each([9, 100])('[G-07] issues and who closed them, %i a page', async (first) => {
    for (const repo of truth.repositories) {
      const found = await walk(
        stage,
        collectorQueries.Issues,
        { repo: repo.nodeId, first, since: null },
        (data) => data.node.issues,
      )
      const rows = found.map((issue) => [
        issue.databaseId,
        issue.number,
        issue.state.toLowerCase(),
        issue.updatedAt,
        issue.closedAt,
        issue.author.databaseId,
        issue.timelineItems.nodes[0]?.actor.databaseId ?? null,
      ])
      const expected = truth.issues[repo.id]!.map((issue) => [
        issue.id,
        issue.number,
        issue.state,
        time(issue.updatedAt),
        time(issue.closedAt),
        issue.authorId,
        issue.closedById,
      ])
      expect(rows).toEqual(expected)
    }
  })

  test.each([9, 100])('[G-07] pull requests, here and elsewhere, %i a page', async (first) => {
    const row = (pull: Tree) => ({
      id: pull.databaseId,
      number: pull.number,
      repoId: pull.baseRepository.databaseId,
      headRepoId: pull.headRepository?.databaseId ?? null,
      mergedAt: pull.mergedAt,
      mergedById: pull.mergedBy?.databaseId ?? null,
      size: [pull.additions, pull.deletions, pull.changedFiles],
      state: pull.state,
    })
    const expected = (pulls: GroundTruth['ownPulls']) =>
      sorted(pulls).map((pull) => ({
        id: pull.id,
        number: pull.number,
        repoId: pull.repoId,
        headRepoId: pull.headRepoId,
        mergedAt: time(pull.mergedAt),
        mergedById: pull.mergedById,
        size: [pull.additions, pull.deletions, pull.changedFiles],
        state: pull.mergedAt ? 'MERGED' : pull.state.toUpperCase(),
      }))
    for (const repo of truth.repositories) {
      const found = await walk(
        stage,
        collectorQueries.PullRequests,
        { repo: repo.nodeId, first },
        (data) => data.nodes[0].pullRequests,
      )
      expect(sorted(found.map(row))).toEqual(expected(truth.pulls[repo.id]!))
    }
    const own = await walk(stage, collectorQueries.OwnPullRequests, { login: 'ada', first }, (data) => data.user.pullRequests)
    expect(sorted(own.map(row))).toEqual(expected(truth.ownPulls))
    const times = own.map((pull) => Date.parse(pull.updatedAt))
    expect(times).toEqual(times.toSorted((a, b) => b - a))
  })

  test('[G-07] a list read from its end, backwards, is the same list', async () => {
    const repo = truth.repositories.find(({ id }) => truth.issues[id]!.length > 20)!
    const query = `query ($id: ID!, $before: String) { node(id: $id) { ... on Repository { issues(last: 7, before: $before) {
      nodes { number } pageInfo { hasPreviousPage startCursor } } } } }`
    const found: number[] = []
    for (let before: string | null = null; ; ) {
      const { data } = await stage.ask(query, { id: repo.nodeId, before })
      const { nodes, pageInfo } = data.node.issues
      found.unshift(...nodes.map(({ number }: { number: number }) => number))
      if (!pageInfo.hasPreviousPage) break
      before = pageInfo.startCursor
    }
    expect(found).toEqual(truth.issues[repo.id]!.map(({ number }) => number))
  })
})

describe('history', () => {
  const historyQuery = `query ($id: ID!, $oid: GitObjectID, $after: String, $since: GitTimestamp, $until: GitTimestamp, $author: CommitAuthor) {
    node(id: $id) { ... on Repository { object(oid: $oid) { ... on Commit {
      history(first: 10, after: $after, since: $since, until: $until, author: $author) { totalCount nodes { oid } pageInfo { endCursor hasNextPage } } } } } } }`
  const stage = createStage()
  const { world } = stage
  const repo = [...world.repos.values()].find(({ id }) => world.commits(id).length > 60)!
  const ask = async (variables: Variables) =>
    (await stage.ask(historyQuery, { id: repo.nodeId, ...variables })).data.node.object?.history

  test('[G-07] a history is anchored at its commit, and its cursor is that commit and a place', async () => {
    const all = world.commits(repo.id)
    const anchor = all[20]!.sha
    const page = await ask({ oid: anchor })
    expect(page.pageInfo.endCursor).toBe(`${anchor} 9`)
    expect(page.totalCount).toBe(world.reachable(repo.id, anchor).size)
    expect(page.totalCount).toBeLessThan(all.length)
    const next = await ask({ oid: anchor, after: page.pageInfo.endCursor })
    expect(next.nodes.map(({ oid }: Tree) => oid)).toEqual(
      world
        .commits(repo.id, anchor)
        .slice(10, 20)
        .map(({ sha }) => sha),
    )
    expect(await ask({ oid: 'f'.repeat(40) })).toBeUndefined()
  })

  test('[G-07] since and until go by the committer date, both included, and author by account or address', async () => {
    const all = world.commits(repo.id)
    const [until, since] = [all[5]!.committedAt, all[40]!.committedAt]
    const inside = all.filter(({ committedAt }) => committedAt >= since && committedAt <= until)
    const page = await ask({ oid: repo.head, since: isoTime(since), until: isoTime(until) })
    expect(page.totalCount).toBe(inside.length)
    expect(page.nodes.map(({ oid }: Tree) => oid)).toEqual(inside.slice(0, 10).map(({ sha }) => sha))
    const { authorId, authorEmail } = all.find(({ authorId }) => authorId !== null)!
    const id = world.accounts.get(authorId!)!.nodeId
    const byAccount = await ask({ oid: repo.head, author: { id } })
    expect(byAccount.totalCount).toBe(all.filter((one) => one.authorId === authorId).length)
    const byAddress = await ask({ oid: repo.head, author: { emails: [authorEmail] } })
    expect(byAddress.totalCount).toBe(all.filter((one) => one.authorEmail === authorEmail).length)
  })
})

describe('lists', () => {
  test.each([
    ['issues', (field: string) => `issues(${field})`],
    ['history', (field: string) => `defaultBranchRef { target { ... on Commit { history(${field})`],
  ])('[G-07] pageInfo of %s tells what lies on both sides', async (name, list) => {
    const { world, ask } = createStage()
    const repo = [...world.repos.values()].find(({ id }) => world.issues(id).length > 12 && world.commits(id).length > 12)!
    const end = name === 'history' ? '} } }' : ''
    const info = 'pageInfo { hasPreviousPage hasNextPage startCursor endCursor }'
    const page = async (field: string) => {
      const { data } = await ask(
        `query ($id: ID!) { node(id: $id) { ... on Repository { ${list(field)} { ${info} } ${end} } } }`,
        { id: repo.nodeId },
      )
      return (data.node.issues ?? data.node.defaultBranchRef.target.history).pageInfo
    }
    const sides = ({ hasPreviousPage, hasNextPage }: Tree) => [hasPreviousPage, hasNextPage]
    const first = await page('first: 5')
    expect(sides(first)).toEqual([false, true])
    const second = await page(`first: 5, after: "${first.endCursor}"`)
    expect(sides(second)).toEqual([true, true])
    expect(sides(await page(`first: 100, after: "${second.endCursor}"`))).toEqual([true, expect.any(Boolean)])
    const back = await page(`last: 5, before: "${second.startCursor}"`)
    expect(back).toMatchObject({
      startCursor: first.startCursor,
      endCursor: first.endCursor,
      hasPreviousPage: false,
      hasNextPage: true,
    })
    expect(sides(await page('last: 5'))).toEqual([true, false])
  })

  test('[G-07] rows that leave do not shift a walk; a row that is touched moves to the front of UPDATED_AT', async () => {
    const stage = createStage()
    const { world } = stage
    const user = world.byLogin('ada')!
    const query = `query ($id: ID!, $after: String) { node(id: $id) { ... on User { repositories(first: 4, after: $after, ownerAffiliations: [OWNER],
      orderBy: { field: UPDATED_AT, direction: DESC }) { nodes { databaseId } pageInfo { endCursor } } } } }`
    const page = async (after: string | null) => (await stage.ask(query, { id: user.nodeId, after })).data.node.repositories
    const order = world.reposOf(user.id, ['OWNER']).toSorted((a, b) => b.updatedAt - a.updatedAt || b.id - a.id)
    const first = await page(null)
    expect(first.nodes.map((one: Tree) => one.databaseId)).toEqual(order.slice(0, 4).map(({ id }) => id))
    world.directory.removeRepo(order[1]!)
    order[5]!.updatedAt = stage.now
    const second = await page(first.pageInfo.endCursor)
    expect(second.nodes.map((one: Tree) => one.databaseId)).toEqual([4, 6, 7, 8].map((at) => order[at]!.id))
  })

  test('[G-07] filters narrow rows and count alike; since is included', async () => {
    const { world, ask } = createStage()
    const repo = [...world.repos.values()].find(({ id }) => world.issues(id).length > 20)!
    const since = world.issues(repo.id)[10]!.updatedAt
    const query = `query ($id: ID!, $since: DateTime) { node(id: $id) { ... on Repository {
      recent: issues(first: 100, filterBy: { since: $since }) { totalCount nodes { updatedAt } }
      open: issues(first: 100, states: OPEN) { totalCount nodes { state } }
      merged: pullRequests(first: 100, states: [MERGED]) { totalCount nodes { merged } } } } }`
    const { recent, open, merged } = (await ask(query, { id: repo.nodeId, since: isoTime(since) })).data.node
    expect(recent.totalCount).toBe(world.issues(repo.id).filter(({ updatedAt }) => updatedAt >= since).length)
    expect(recent.nodes.map((one: Tree) => one.updatedAt)).toContain(isoTime(since))
    expect(open.totalCount).toBe(world.issues(repo.id).filter(({ state }) => state === 'open').length)
    expect(merged.totalCount).toBe(world.pulls(repo.id).filter(({ mergedAt }) => mergedAt !== null).length)
    expect(merged.nodes.every((one: Tree) => one.merged)).toBe(true)
  })
})
