import { describe, expect, test } from 'vitest'
import type { GraphqlTrap } from './host.ts'
import { createStage, type Tree } from './stage.suite.ts'

const history = (first: number, fields: string) => `query Commits($id: ID!) { viewer { login } node(id: $id) { ... on Repository {
  defaultBranchRef { target { ... on Commit { history(first: ${first}) { totalCount nodes { oid ${fields} } } } } } } } }`

function createHeavyStage() {
  const stage = createStage()
  const repo = [...stage.world.repos.values()].find(({ id }) => stage.world.commits(id).length > 60)!
  return { stage, id: repo.nodeId, shas: stage.world.commits(repo.id).map(({ sha }) => sha) }
}

describe('trouble', () => {
  test.each<[GraphqlTrap, number, Record<string, unknown>, number]>([
    [
      { trap: 'rate limited', form: 'RATE_LIMITED' },
      200,
      { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded for user ID 1001.' }] },
      0,
    ],
    [
      { trap: 'rate limited', form: 'RATE_LIMIT' },
      200,
      {
        errors: [
          { type: 'RATE_LIMIT', code: 'graphql_rate_limit', message: 'API rate limit already exceeded for user ID 1001.' },
        ],
      },
      0,
    ],
    ...([200, 502, 504] as const).map((status): [GraphqlTrap, number, Record<string, unknown>, number] => [
      { trap: 'timeout', status },
      status,
      { data: null, errors: [{ message: expect.stringContaining('Something went wrong while executing your query.') }] },
      2,
    ]),
    [
      { trap: 'insufficient scopes', needed: ['read:org'], granted: ['repo', 'user'] },
      200,
      {
        errors: [
          {
            type: 'INSUFFICIENT_SCOPES',
            message: expect.stringContaining(
              "The 'viewer' field requires one of the following scopes: ['read:org'], but your token has only been granted the: ['repo', 'user'] scopes.",
            ),
          },
        ],
      },
      1,
    ],
  ])('[G-07] chaos can answer with %j', async (trap, status, body, points) => {
    const stage = createStage()
    const asked: unknown[] = []
    stage.chaosFor = (operation, estimate) => {
      asked.push([operation, estimate.points])
      return trap
    }
    const answer = await stage.ask('query Mine { viewer { repositories(first: 5) { totalCount } } }')
    expect(asked).toEqual([['Mine', 1]])
    expect(answer).toMatchObject({ status, points, operation: 'Mine', ...body })
    expect(answer.data).toBe('data' in body ? null : undefined)
  })

  test('[G-07] a timeout costs double, but never more than is left', async () => {
    const stage = createStage()
    stage.chaosFor = () => ({ trap: 'timeout', status: 502 })
    const query =
      '{ viewer { repositories(first: 100) { nodes { a: issues(first: 1) { totalCount } b: issues(first: 1) { totalCount } } } } }'
    expect((await stage.ask(query)).points).toBe(4)
    stage.budget = { ...stage.budget, remaining: 3 }
    expect((await stage.ask(query)).points).toBe(3)
  })

  test('[G-07] resource limits leave partial data and an error at the list', async () => {
    const stage = createStage()
    stage.chaosFor = () => ({ trap: 'resource limits' })
    const id = stage.world.reposOf(1001, ['OWNER'])[0]!.nodeId
    const { status, data, errors } = await stage.ask(
      'query ($id: ID!) { rateLimit { cost } node(id: $id) { ... on User { login } ... on Repository { issues(first: 5) { totalCount } } } }',
      { id },
    )
    expect({ status, data }).toEqual({ status: 200, data: { rateLimit: { cost: 1 }, node: null } })
    expect(errors).toMatchObject([
      { type: 'RESOURCE_LIMITS_EXCEEDED', path: ['node', 'issues'], message: 'Resource limits for this query exceeded.' },
    ])
  })

  test('[G-07] resource limits refuse a query without lists as a whole', async () => {
    const stage = createStage()
    stage.chaosFor = () => ({ trap: 'resource limits' })
    const { data, errors } = await stage.ask('{ viewer { login } }')
    expect(data).toBeUndefined()
    expect(errors).toEqual([{ type: 'RESOURCE_LIMITS_EXCEEDED', message: 'Resource limits for this query exceeded.' }])
  })

  test('[G-07] line counts of too many commits are refused one by one, in every order of fields', async () => {
    for (const fields of ['additions deletions changedFilesIfAvailable', 'changedFilesIfAvailable additions']) {
      const { stage, id, shas } = createHeavyStage()
      stage.heavyNodesMax = 15
      const { status, data, errors } = await stage.ask(history(20, fields), { id })
      expect(status).toBe(200)
      const { nodes } = data.node.defaultBranchRef.target.history
      expect(nodes.slice(0, 15).map((node: Tree) => node.oid)).toEqual(shas.slice(0, 15))
      expect(nodes.slice(15)).toEqual(Array(5).fill(null))
      expect(errors!.every(({ type, path }) => type === 'RESOURCE_LIMITS_EXCEEDED' && path[5] >= 15)).toBe(true)
    }
  })

  test('[G-07] at twice the limit the query times out; without line counts, or with a smaller page, it does not', async () => {
    const { stage, id } = createHeavyStage()
    stage.heavyNodesMax = 15
    expect(await stage.ask(history(31, 'additions'), { id })).toMatchObject({ status: 502, data: null, points: 2 })
    expect(await stage.ask(history(30, 'additions'), { id })).toMatchObject({ status: 200, points: 1 })
    expect((await stage.ask(history(15, 'additions deletions'), { id })).errors).toBeUndefined()
    expect((await stage.ask(history(60, 'committedDate'), { id })).errors).toBeUndefined()
  })

  test('[G-07] a query that is refused anyway never reaches chaos', async () => {
    const stage = createStage()
    await stage.ask('{ viewer { nickname } }')
    await stage.ask('{ viewer { repositories(first: 1000) { totalCount } } }')
    expect(stage.estimates).toEqual([])
  })
})
