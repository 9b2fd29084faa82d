import { afterEach, describe, expect, test } from 'vitest'
import { type GithubSim, type SimOptions, startGithubSim } from '../start.ts'
import type { GroundTruth } from '../world/ground-truth.ts'
import { collectorQueries } from './collector-queries.ts'
import { ada, type Tree } from './stage.suite.ts'

const running: GithubSim[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((sim) => sim.stop()))
})

async function start(options: SimOptions = {}) {
  const sim = await startGithubSim({ people: [ada], start: new Date('2026-01-01T00:00:00Z'), ...options })
  running.push(sim)
  const ask = async (query: string, variables: Tree = {}) => {
    const answer = await fetch(sim.graphqlUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${sim.tokenOf('ada')}`, 'user-agent': 'test', 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Tree }
  }
  /** Everything below one path of the answer, page by page. */
  const walk = async (query: string, variables: Tree, list: (data: Tree) => Tree) => {
    const found: Tree[] = []
    for (let after = null; ; ) {
      const { body } = await ask(query, { ...variables, after })
      expect(body.errors).toBeUndefined()
      const page = list(body.data)
      found.push(...(page.nodes ?? page.edges.map((edge: Tree) => edge.node)))
      if (!page.pageInfo.hasNextPage) return found
      after = page.pageInfo.endCursor
    }
  }
  return { sim, ask, walk }
}

const numbers = (values: readonly number[]) => values.toSorted((a, b) => a - b)

describe('GraphQL over HTTP', () => {
  test('[G-07] points, headers, rateLimit and the oracle tell the same story', async () => {
    const { sim, ask } = await start()
    const heavy = `query Priced { viewer { repositories(first: 100) { nodes { issues(first: 1) { totalCount } pullRequests(first: 1) { totalCount } } } }
      rateLimit { cost remaining used limit resetAt } }`
    await ask(heavy)
    const { headers, body } = await ask(heavy)
    expect(body.data.rateLimit).toMatchObject({ cost: 2, used: 4, remaining: 4996, limit: 5000 })
    expect(headers.get('x-ratelimit-resource')).toBe('graphql')
    expect(headers.get('x-ratelimit-used')).toBe('4')
    expect(headers.get('x-ratelimit-remaining')).toBe('4996')
    expect(Date.parse(body.data.rateLimit.resetAt) / 1000).toBe(Number(headers.get('x-ratelimit-reset')))
    expect(sim.oracle.entries()).toMatchObject([
      { operation: 'Priced', units: 2 },
      { operation: 'Priced', units: 2 },
    ])
  })

  test('[G-07] what a spent budget cannot pay is refused, and counted', async () => {
    const { sim, ask } = await start({ graphqlLimit: 2 })
    const query = '{ viewer { login } }'
    expect((await ask(query)).body.data.viewer.login).toBe('ada')
    expect((await ask(query)).body.data.viewer.login).toBe('ada')
    const { status, body } = await ask(query)
    expect({ status, type: body.errors[0].type }).toEqual({ status: 200, type: 'RATE_LIMITED' })
    expect(sim.oracle.summary().overBudget).toBe(1)
  })

  test('[G-07] resource limits by script leave partial data', async () => {
    const { sim, ask } = await start()
    sim.chaos.script({ match: { operation: 'Mine' }, trouble: 'RESOURCE_LIMITS_EXCEEDED', times: 1 })
    const query = 'query Mine { user(login: "ada") { repositories(first: 1) { totalCount } } rateLimit { cost } }'
    const { body } = await ask(query)
    expect(body.data).toEqual({ user: null, rateLimit: { cost: 1 } })
    expect(body.errors).toMatchObject([{ type: 'RESOURCE_LIMITS_EXCEEDED', path: ['user', 'repositories'] }])
    expect((await ask(query)).body.errors).toBeUndefined()
  })

  test('[G-07] a smaller page of commits passes where a larger one times out', async () => {
    const { sim, ask } = await start({ heavyNodesMax: 20 })
    const repo = [...sim.world.repos.values()].find(({ id }) => sim.world.commits(id).length > 60)!
    const page = (first: number) => ask(collectorQueries.Commits, { repo: repo.nodeId, oid: repo.head, first, after: null })
    expect((await page(50)).status).toBe(502)
    expect((await page(25)).body.errors).toHaveLength(5)
    expect((await page(20)).body.errors).toBeUndefined()
  })

  test('[G-07] a token without rights sees no repository', async () => {
    const { sim, ask } = await start()
    sim.chaos.issueToken('ada', `ghp_${'n'.repeat(36)}`, 'none')
    const [repo] = sim.world.reposOf(sim.world.byLogin('ada')!.id, ['OWNER'])
    const { body } = await ask('query ($id: ID!) { viewer { login } node(id: $id) { id } }', { id: repo!.nodeId })
    expect(body).toMatchObject({
      data: { viewer: { login: 'ada' }, node: null },
      errors: [{ type: 'FORBIDDEN', path: ['node'] }],
    })
  })

  test('[G-07] after a day of churn, paging through everything still gives the ground truth', async () => {
    const { sim, walk } = await start()
    const [a, b, c, d, e, f, g, h] = sim.world.reposOf(sim.world.byLogin('ada')!.id, ['OWNER']).map(({ id }) => id)
    for (let hour = 0; hour < 24; hour++) {
      sim.clock.advance(3_600_000)
      sim.churn.step({ share: 0.2, gentle: true })
    }
    sim.churn.renameWithReuse(a!)
    sim.churn.transfer(b!, 'example-org')
    sim.churn.deleteRepo(c!)
    sim.churn.disablePulls(d!)
    sim.churn.block(e!)
    sim.churn.emptyRepo(f!)
    sim.churn.lateMerge(g!, 5, 30)
    sim.churn.forcePush(h!, 2, 1)
    const truth = sim.world.groundTruth('ada') as GroundTruth
    const user = truth.profile.nodeId
    const readable = truth.repositories.filter(({ state }) => state === 'ok' || state === 'empty')
    expect(readable.length).toBeGreaterThan(0)
    for (const by of ['PUSHED_AT', 'UPDATED_AT']) {
      const variables = { user, first: 5, by, of: ['OWNER', 'COLLABORATOR', 'ORGANIZATION_MEMBER'] }
      const listed = await walk(collectorQueries.Repositories, variables, (data) => data.node.repositories)
      expect(numbers(listed.map((repo) => repo.databaseId))).toEqual(numbers(truth.repositories.map(({ id }) => id)))
    }
    for (const { id, nodeId, head } of readable) {
      const own = { repo: nodeId, first: 50, since: null, oid: head }
      const commits = head === null ? [] : await walk(collectorQueries.Commits, own, (data) => data.node.object.history)
      expect(commits.map((commit) => commit.oid)).toEqual(truth.commits[id]!.map(({ sha }) => sha))
      const issues = await walk(collectorQueries.Issues, own, (data) => data.node.issues)
      expect(numbers(issues.map((issue) => issue.databaseId))).toEqual(numbers(truth.issues[id]!.map((issue) => issue.id)))
      const pulls = await walk(collectorQueries.PullRequests, own, (data) => data.nodes[0].pullRequests)
      expect(numbers(pulls.map((pull) => pull.databaseId))).toEqual(numbers(truth.pulls[id]!.map((pull) => pull.id)))
    }
    const own = await walk(collectorQueries.OwnPullRequests, { login: 'ada', first: 30 }, (data) => data.user.pullRequests)
    expect(numbers(own.map((pull) => pull.databaseId))).toEqual(numbers(truth.ownPulls.map(({ id }) => id)))
  })
})
