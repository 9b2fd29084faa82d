import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { linkOf, openSim, type Told } from '../testing/open-sim.ts'

const id = 100_001
const byId = `/repositories/${id}`

describe('traps', () => {
  test('[G-07] a renamed repository answers by its old name with a redirect that costs a unit, and by its number as ever', async () => {
    const open = await openSim()
    const old = open.sim.world.repos.get(id)!.name
    open.sim.churn.rename(id, 'renamed')
    const moved = await open.ask(`/repos/ada/${old}/commits?per_page=2`)
    const url = `${open.sim.url}${byId}/commits?per_page=2`
    expect(moved).toMatchObject({ status: 301, remaining: 4999, body: { message: 'Moved Permanently', url } })
    expect(moved.headers.get('location')).toBe(url)
    expect(await open.ask(`/repos/ada/${old}`, { method: 'PATCH' })).toMatchObject({ status: 307 })
    expect(await open.ask(url)).toMatchObject({ status: 200, remaining: 4997 })
    expect((await open.ask(byId)).body).toMatchObject({ id, full_name: 'ada/renamed' })
  })

  test('[G-07] a name that was taken again answers with the other repository, without a word', async () => {
    const open = await openSim()
    const old = open.sim.world.repos.get(id)!.name
    const { taker } = open.sim.churn.renameWithReuse(id)
    expect(await open.ask(`/repos/ada/${old}`)).toMatchObject({ status: 200, body: { id: taker.id } })
    expect(await open.ask(byId)).toMatchObject({ status: 200, body: { id } })
  })

  test('[G-07] a transferred repository redirects, and its former owner still sees it', async () => {
    const open = await openSim()
    const { name } = open.sim.world.repos.get(id)!
    open.sim.churn.transfer(id, 'example-org')
    expect(await open.ask(`/repos/ada/${name}`)).toMatchObject({ status: 301 })
    expect(await open.ask(byId)).toMatchObject({ status: 200, body: { owner: { login: 'example-org' } } })
    expect(open.sim.world.groundTruth('ada')!.repositories.find((repo) => repo.id === id)).toMatchObject({
      affiliation: 'COLLABORATOR',
    })
  })

  test('[G-07] a renamed login is not found by its old name, but its repositories are', async () => {
    const open = await openSim()
    const token = open.sim.tokenOf('ada')
    const { name } = open.sim.world.repos.get(id)!
    open.sim.churn.renameLogin('ada', 'countess')
    expect(await open.ask('/users/ada', { token })).toMatchObject({ status: 404 })
    expect(await open.ask('/user/1001', { token })).toMatchObject({ status: 200, body: { login: 'countess' } })
    expect(await open.ask(`/repos/ada/${name}`, { token })).toMatchObject({ status: 301 })
  })

  const changes: [what: string, change: (open: Opened) => unknown, path: string, status: number, body: object][] = [
    ['empty', ({ churn }) => churn.emptyRepo(id), `${byId}/commits`, 409, { message: 'Git Repository is empty.' }],
    [
      'blocked by dmca',
      ({ churn }) => churn.block(id),
      byId,
      451,
      { message: 'Repository access blocked', block: { reason: 'dmca' } },
    ],
    ['blocked by tos', ({ churn }) => churn.block(id, 'tos'), `${byId}/issues`, 403, { block: { reason: 'tos' } }],
    ['behind SSO', ({ churn }) => churn.guard(id, 'sso'), byId, 403, { message: expect.stringContaining('SAML') }],
    ['behind an IP list', ({ churn }) => churn.guard(id, 'ip'), byId, 403, { message: expect.stringContaining('IP allow list') }],
    ['deleted', ({ churn }) => churn.deleteRepo(id), byId, 404, { message: 'Not Found', status: '404' }],
    ['without pull requests', ({ churn }) => churn.disablePulls(id), `${byId}/pulls`, 404, { message: 'Not Found' }],
    [
      'without issues',
      ({ churn }) => churn.disableIssues(id),
      `${byId}/issues/1`,
      410,
      { message: 'Issues are disabled for this repo' },
    ],
    [
      'asked for an unknown sha',
      () => {},
      `${byId}/commits/${'0'.repeat(40)}`,
      422,
      { message: `No commit found for SHA: ${'0'.repeat(40)}` },
    ],
    ['asked with a slash at the end', () => {}, `${byId}/`, 404, { message: 'Not Found' }],
    [
      'asked for events that are too old',
      () => {},
      '/users/ada/events?per_page=100&page=4',
      422,
      { message: expect.stringContaining('rel=last') },
    ],
    ['searched for nothing', () => {}, '/search/issues', 422, { errors: [{ resource: 'Search', field: 'q', code: 'missing' }] }],
    [
      'searched too deep',
      () => {},
      '/search/issues?q=author:ada&per_page=100&page=11',
      422,
      { message: expect.stringContaining('1000') },
    ],
  ]
  type Opened = Awaited<ReturnType<typeof openSim>>['sim']

  test.each(changes)('[G-07] %s', async (_what, change, path, status, body) => {
    const open = await openSim()
    change(open.sim)
    expect(await open.ask(path)).toMatchObject({ status, body, remaining: path.startsWith('/search') ? 29 : 4999 })
  })

  test('[G-07] repositories without issues have an empty list of them', async () => {
    const open = await openSim()
    open.sim.churn.disableIssues(id)
    expect(await open.ask(`${byId}/issues`)).toMatchObject({ status: 200, body: [] })
  })

  test('[G-07] a deleted issue is gone, an issue that never was is not found', async () => {
    const open = await openSim()
    const { number } = open.sim.churn.deleteIssue(id)!
    expect(await open.ask(`${byId}/issues/${number}`)).toMatchObject({ status: 410 })
    expect(await open.ask(`${byId}/issues/99999`)).toMatchObject({ status: 404 })
  })

  test('[G-07] lists leave out what is behind SSO, and say so', async () => {
    const open = await openSim()
    open.sim.churn.guard(id, 'sso')
    const list = await open.ask('/user/repos')
    expect((list.body as unknown[]).length).toBe(3)
    expect(list.headers.get('x-github-sso')).toBe('partial-results; organizations=1001')
    expect((await open.ask(byId)).headers.get('x-github-sso')).toMatch(/^required; url=/)
  })

  test('[G-07] a private repository does not exist for others', async () => {
    const open = await openSim()
    open.sim.world.repos.get(id)!.private = true
    expect(await open.ask(byId, { as: null })).toMatchObject({ status: 404 })
    expect(await open.ask(byId)).toMatchObject({ status: 200 })
  })

  test('[G-07] a token without rights is told which it lacks', async () => {
    const open = await openSim()
    open.sim.chaos.issueToken('ada', 'ghp_none', 'none')
    const told = await open.ask(byId, { token: 'ghp_none' })
    expect(told).toMatchObject({ status: 403, body: { message: 'Resource not accessible by personal access token' } })
    expect(told.headers.get('x-accepted-github-permissions')).toBe('metadata=read')
    expect(await open.ask('/user', { token: 'ghp_none' })).toMatchObject({ status: 200 })
  })

  test('[G-07] no user agent, an unknown version, a wrong method, no token', async () => {
    const open = await openSim()
    expect(await withoutUserAgent(open.sim.url)).toMatchObject({
      status: 403,
      text: expect.stringContaining('User-Agent header'),
    })
    expect(await open.ask('/user', { headers: { 'x-github-api-version': '2020-01-01' } })).toMatchObject({ status: 400 })
    expect(await open.ask('/user', { method: 'DELETE' })).toMatchObject({ status: 404 })
    expect(await open.ask('/user', { as: null })).toMatchObject({ status: 401, body: { message: 'Requires authentication' } })
    expect(await open.ask('/graphql', { as: null, method: 'POST', body: {} })).toMatchObject({
      status: 401,
      body: { message: 'This endpoint requires you to be authenticated.' },
    })
  })

  test('[G-07] GitHub Enterprise addresses work, and their links stay there', async () => {
    const open = await openSim()
    const told: Told = await open.ask('/api/v3/user/repos?per_page=1')
    expect(told.status).toBe(200)
    expect(linkOf(told, 'next')).toBe(`${open.sim.url}/api/v3/user/repos?per_page=1&page=2`)
  })
})

/** fetch always sends a user agent. */
function withoutUserAgent(url: string): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    request(`${url}/user`, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode, text }))
    })
      .on('error', reject)
      .end()
  })
}
