import { describe, expect, test } from 'vitest'
import { createStage, type Stage } from './stage.suite.ts'

const repoQuery = 'query ($id: ID!) { node(id: $id) { ... on Repository { databaseId nameWithOwner } } viewer { login } }'

function stageWithRepo(change: (repo: NonNullable<ReturnType<Stage['world']['repos']['get']>>) => void) {
  const stage = createStage()
  const [repo, other] = stage.world.reposOf(stage.world.byLogin('ada')!.id, ['OWNER']).filter((one) => !one.private)
  change(repo!)
  return { ...stage, repo: repo!, other: other! }
}

describe('partial errors', () => {
  test('[G-07] what is not found is null with an error at its path, and the rest is answered', async () => {
    const { ask, other } = stageWithRepo(() => {})
    const query = `query ($id: ID!) {
      a: repository(owner: "ada", name: "nothing") { id }
      b: user(login: "nobody") { id }
      c: organization(login: "ada") { id }
      d: node(id: "R_x") { id }
      e: node(id: $id) { ... on Repository { issue(number: 9999) { id } pullRequest(number: 9999) { id } } }
      f: nodes(ids: ["R_x", $id]) { id }
      g: repositoryOwner(login: "nobody") { id }
      viewer { login }
    }`
    const { status, data, errors } = await ask(query, { id: other.nodeId })
    expect(status).toBe(200)
    expect(data).toEqual({
      a: null,
      b: null,
      c: null,
      d: null,
      e: { issue: null, pullRequest: null },
      f: [null, { id: other.nodeId }],
      g: null,
      viewer: { login: 'ada' },
    })
    const notFound = (path: unknown[], message: string) => ({ type: 'NOT_FOUND', path, message, locations: [expect.anything()] })
    expect(errors).toEqual([
      notFound(['a'], "Could not resolve to a Repository with the name 'ada/nothing'."),
      notFound(['b'], "Could not resolve to a User with the login of 'nobody'."),
      notFound(['c'], "Could not resolve to an Organization with the login of 'ada'."),
      notFound(['d'], "Could not resolve to a node with the global id of 'R_x'"),
      notFound(['e', 'issue'], 'Could not resolve to an Issue with the number of 9999.'),
      notFound(['e', 'pullRequest'], 'Could not resolve to a PullRequest with the number of 9999.'),
      notFound(['f', 0], "Could not resolve to a node with the global id of 'R_x'"),
    ])
    expect(errors![0]!.locations).toEqual([{ line: 2, column: 7 }])
  })

  test.each([
    ['sso', { extensions: { saml_failure: true }, message: expect.stringContaining('SAML enforcement') }],
    ['ip', { message: expect.stringContaining('the `ada` organization has an IP allow list enabled') }],
  ] as const)('[G-07] a repository behind %s is forbidden by id and leaves a hole in lists', async (guard, error) => {
    const { ask, repo } = stageWithRepo((repo) => (repo.guard = guard))
    const byId = await ask(repoQuery, { id: repo.nodeId })
    expect(byId.data).toEqual({ node: null, viewer: { login: 'ada' } })
    expect(byId.errors).toEqual([{ type: 'FORBIDDEN', path: ['node'], locations: [{ line: 1, column: 20 }], ...error }])
    const list = await ask(
      '{ viewer { repositories(first: 100, ownerAffiliations: OWNER) { totalCount nodes { databaseId } } } }',
    )
    const { totalCount, nodes } = list.data.viewer.repositories
    expect(totalCount).toBe(12)
    const hole = nodes.indexOf(null)
    expect(nodes.filter((one: unknown) => one === null)).toHaveLength(1)
    expect(list.errors).toMatchObject([{ type: 'FORBIDDEN', path: ['viewer', 'repositories', 'nodes', hole], ...error }])
  })

  test('[G-07] a blocked repository is listed as disabled, without contents, and refused by id', async () => {
    const { ask, repo } = stageWithRepo((repo) => (repo.blocked = 'dmca'))
    const { data, errors } = await ask(repoQuery, { id: repo.nodeId })
    expect(data.node).toBeNull()
    expect(errors).toMatchObject([{ type: 'FORBIDDEN', path: ['node'], message: 'Repository access blocked' }])
    const list =
      await ask(`{ viewer { repositories(first: 100) { nodes { databaseId isDisabled defaultBranchRef { name } issues { totalCount }
      pullRequests { totalCount } object(expression: "HEAD") { oid } } } } }`)
    expect(list.errors).toBeUndefined()
    expect(list.data.viewer.repositories.nodes).toContainEqual({
      databaseId: repo.id,
      isDisabled: true,
      defaultBranchRef: null,
      issues: { totalCount: 0 },
      pullRequests: { totalCount: 0 },
      object: null,
    })
  })

  test('[G-07] an empty repository has no branch; disabled issues and pull requests are empty lists', async () => {
    const { ask, repo } = stageWithRepo((repo) => Object.assign(repo, { head: null, hasIssues: false, hasPullRequests: false }))
    const query = `query ($id: ID!) { node(id: $id) { ... on Repository { isEmpty hasIssuesEnabled defaultBranchRef { name }
      object(expression: "HEAD") { oid } issues(first: 5) { nodes { id } } pullRequests(first: 5) { totalCount nodes { id } } } } }`
    expect((await ask(query, { id: repo.nodeId })).data.node).toEqual({
      isEmpty: true,
      hasIssuesEnabled: false,
      defaultBranchRef: null,
      object: null,
      issues: { nodes: [] },
      pullRequests: { totalCount: 0, nodes: [] },
    })
  })

  test('[G-07] deleted and hidden repositories are not found by name or id, and not listed', async () => {
    const { ask, world, repo, other } = stageWithRepo((repo) => (repo.private = true))
    world.directory.removeRepo(other)
    for (const [id, login] of [
      [repo.nodeId, 'bob'],
      [other.nodeId, 'ada'],
    ] as const)
      expect((await ask(repoQuery, { id }, login)).errors).toMatchObject([{ type: 'NOT_FOUND', path: ['node'] }])
    const byName = await ask(`{ repository(owner: "ada", name: "${repo.name}") { id } }`, {}, 'bob')
    expect(byName.errors).toMatchObject([{ type: 'NOT_FOUND', path: ['repository'] }])
    const list = (await ask('{ user(login: "ada") { repositories(first: 100) { nodes { databaseId } } } }', {}, 'bob')).data.user
      .repositories
    const ids = list.nodes.map(({ databaseId }: { databaseId: number }) => databaseId)
    expect(ids).not.toContain(repo.id)
    expect(ids).not.toContain(other.id)
    expect((await ask(repoQuery, { id: repo.nodeId })).data.node.databaseId).toBe(repo.id)
  })

  test('[G-07] a token without rights reads no repository, and lists what is public', async () => {
    const stage = createStage()
    const [open, secret] = stage.world.reposOf(stage.world.byLogin('ada')!.id, ['OWNER'])
    Object.assign(secret!, { private: true })
    Object.assign(open!, { private: false })
    stage.mayRead = false
    expect((await stage.ask(repoQuery, { id: open!.nodeId })).errors).toMatchObject([
      { type: 'FORBIDDEN', path: ['node'], message: 'Resource not accessible by personal access token' },
    ])
    const { nodes } = (await stage.ask('{ viewer { repositories(first: 100) { nodes { databaseId } } } }')).data.viewer
      .repositories
    expect(nodes).toContainEqual({ databaseId: open!.id })
    expect(nodes).not.toContainEqual({ databaseId: secret!.id })
  })

  test('[G-07] a former name leads on silently, unless followRenames is off', async () => {
    const { ask, world, repo } = stageWithRepo(() => {})
    const former = repo.name
    world.directory.moveRepo(repo, repo.ownerId, 'renamed')
    const query =
      'query ($name: String!, $follow: Boolean) { repository(owner: "ada", name: $name, followRenames: $follow) { databaseId nameWithOwner } }'
    const moved = await ask(query, { name: former, follow: true })
    expect(moved).toMatchObject({
      errors: undefined,
      data: { repository: { databaseId: repo.id, nameWithOwner: 'ada/renamed' } },
    })
    expect((await ask(query, { name: former, follow: false })).errors).toMatchObject([{ type: 'NOT_FOUND' }])
    expect((await ask(query, { name: 'renamed', follow: false })).data.repository.databaseId).toBe(repo.id)
  })

  test('[G-07] rows asked without a page size are an error at the field; a count alone needs none', async () => {
    const { ask } = createStage()
    const message = 'You must provide a `first` or `last` value to properly paginate the `issues` connection.'
    const rows = ['nodes { id }', 'edges { cursor }', '... on IssueConnection { nodes { id } }']
    for (const inner of rows) {
      const { data, errors } = await ask(`{ viewer { login repositories(first: 2) { nodes { name issues { ${inner} } } } } }`)
      expect(data.viewer).toEqual({ login: 'ada', repositories: { nodes: [null, null] } })
      expect(errors!.map(({ path }) => path)).toEqual([0, 1].map((at) => ['viewer', 'repositories', 'nodes', at, 'issues']))
      expect(errors![0]).toMatchObject({ type: 'MISSING_PAGINATION_BOUNDARIES', message })
    }
    const count = await ask('{ viewer { repositories { totalCount pageInfo { hasNextPage } } followers { totalCount } } }')
    expect(count.errors).toBeUndefined()
    expect(count.data.viewer.repositories.totalCount).toBe(12)
  })

  test.each([
    ['repositories(first: 0) { totalCount }', 'UNPROCESSABLE'],
    ['repositories(last: -1) { totalCount }', 'UNPROCESSABLE'],
    ['repositories(first: 1, last: 1) { totalCount }', 'UNPROCESSABLE'],
    ['repositories(first: 1, after: "abc") { totalCount }', 'INVALID_CURSOR_ARGUMENTS'],
    ['repositories(first: 1, before: "Y3Vyc29yOnYyOm5vdCBqc29u") { totalCount }', 'INVALID_CURSOR_ARGUMENTS'],
  ])('[G-07] a page that cannot be is refused: %s', async (field, type) => {
    const { data, errors } = await createStage().ask(`{ viewer { ${field} } }`)
    expect(data).toBeNull()
    expect(errors).toMatchObject([{ type, path: ['viewer', 'repositories'] }])
  })

  test('[G-07] a hundred nodes may be asked by id, not more', async () => {
    const { ask, repo } = stageWithRepo(() => {})
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }'
    expect((await ask(query, { ids: Array(100).fill(repo.nodeId) })).data.nodes).toHaveLength(100)
    expect((await ask(query, { ids: Array(101).fill(repo.nodeId) })).errors).toMatchObject([
      { type: 'ARGUMENT_LIMIT', path: ['nodes'] },
    ])
  })
})
