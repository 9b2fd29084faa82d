import { describe, expect, test } from 'vitest'
import { linkOf, openSim } from '../testing/open-sim.ts'
import { chaosRule, type Trouble } from './rule.ts'

const graphql = {
  method: 'POST',
  body: { query: 'query Walk { viewer { login repositories(first: 5) { nodes { name } } } }', variables: { pageSize: 50 } },
}

describe('chaos', () => {
  const statuses: [trouble: Trouble, status: number, words: string][] = [
    ['server error', 500, 'Server Error'],
    ['bad gateway', 502, 'Bad Gateway'],
    ['unavailable', 503, 'Service Unavailable'],
    ['gateway timeout', 504, "We couldn't respond"],
    ['computing', 202, '{}'],
    ['no content', 204, ''],
    ['not found', 404, 'Not Found'],
    ['gone', 410, 'deleted'],
    ['empty', 409, 'empty'],
    ['dmca', 451, 'dmca'],
    ['tos', 403, 'tos'],
    ['sso', 403, 'SAML'],
    ['ip', 403, 'IP allow list'],
    ['permission', 403, 'not accessible'],
    ['login attempts', 403, 'login attempts'],
    ['bad credentials', 401, 'Bad credentials'],
    ['validation failed', 422, 'Validation Failed'],
    ['primary limit', 403, 'API rate limit exceeded'],
    ['secondary limit', 403, 'secondary rate limit'],
    ['secondary limit without retry-after', 403, 'secondary rate limit'],
    ['abuse', 403, 'abuse detection'],
    ['not json', 200, 'Unicorn'],
  ]

  test.each(statuses)('[G-07] %s, once, and then all is well again', async (trouble, status, words) => {
    const open = await openSim()
    open.sim.chaos.script({ trouble, times: 1 })
    const told = await open.ask('/user')
    expect(told.status).toBe(status)
    expect(typeof told.body === 'string' ? told.body : JSON.stringify(told.body)).toContain(words)
    expect(told.headers.has('retry-after')).toBe(trouble === 'secondary limit')
    expect(await open.ask('/user')).toMatchObject({ status: 200 })
  })

  const errors: [trouble: Trouble, status: number, error: object][] = [
    ['RATE_LIMITED', 200, { type: 'RATE_LIMITED' }],
    ['RATE_LIMIT', 200, { type: 'RATE_LIMIT', code: 'graphql_rate_limit' }],
    ['primary limit', 200, { type: 'RATE_LIMITED' }],
    ['RESOURCE_LIMITS_EXCEEDED', 200, { type: 'RESOURCE_LIMITS_EXCEEDED' }],
    ['graphql timeout', 200, { message: expect.stringContaining('timeout') }],
    ['bad gateway', 502, { message: expect.stringContaining('timeout') }],
    ['gateway timeout', 504, { message: expect.stringContaining('timeout') }],
    ['insufficient scopes', 200, { type: 'INSUFFICIENT_SCOPES' }],
  ]

  test.each(errors)('[G-07] GraphQL: %s', async (trouble, status, error) => {
    const open = await openSim()
    open.sim.chaos.script({ match: { operation: 'Walk' }, trouble, times: 1 })
    expect(await open.ask('/user')).toMatchObject({ status: 200 })
    expect(await open.ask('/graphql', graphql)).toMatchObject({ status, body: { errors: [error] } })
    expect(open.sim.oracle.entries().at(-1)).toMatchObject({ operation: 'Walk', resource: 'graphql', status })
  })

  test('[G-07] large pages fail, small ones pass, in both APIs', async () => {
    const open = await openSim()
    open.sim.chaos.script({ match: { pageAbove: 25 }, trouble: 'bad gateway' })
    expect(await open.ask('/user/repos?per_page=50')).toMatchObject({ status: 502 })
    expect(await open.ask('/user/repos?per_page=25')).toMatchObject({ status: 200 })
    expect(await open.ask('/graphql', graphql)).toMatchObject({ status: 502 })
    expect((await open.ask('/graphql', { ...graphql, body: { query: '{ a(first: 25) { b } }' } })).status).not.toBe(502)
  })

  test('[G-07] links can lie', async () => {
    const open = await openSim()
    open.sim.chaos.script({ match: { path: '^/user/repos' }, trouble: 'foreign link', times: 1 })
    expect(linkOf(await open.ask('/user/repos'), 'next')).toMatch(/^http:\/\/elsewhere\.invalid\//)
    open.sim.chaos.script({ trouble: 'loop link', times: 1 })
    expect(linkOf(await open.ask('/user/repos?page=1'), 'next')).toBe(`${open.sim.url}/user/repos?page=1`)
  })

  test('[G-07] answers can break off, never come, or never end', async () => {
    const open = await openSim()
    for (const trouble of ['cut off', 'hang up'] as const) {
      open.sim.chaos.script({ trouble, times: 1 })
      await expect(open.ask('/user')).rejects.toThrow(/terminated|fetch failed/)
    }
    open.sim.chaos.script({ trouble: 'huge', bytes: 3_000_000, times: 1 })
    expect(((await open.ask('/user')).body as string[])[0]!.length).toBeGreaterThanOrEqual(3_000_000)
  })

  test('[G-07] a rule may be a matter of chance, and chance comes from the seed', async () => {
    const run = async () => {
      const open = await openSim({ seed: 5 })
      open.sim.chaos.script({ trouble: 'server error', probability: 0.5 })
      const statuses: number[] = []
      for (let at = 0; at < 12; at++) statuses.push((await open.ask('/user')).status)
      return statuses
    }
    const statuses = await run()
    expect(new Set(statuses)).toEqual(new Set([200, 500]))
    expect(await run()).toEqual(statuses)
  })

  test('[G-07] a revoked token is refused until it is reinstated or replaced', async () => {
    const open = await openSim()
    open.sim.chaos.revoke('ada')
    expect(await open.ask('/user')).toMatchObject({ status: 401 })
    expect(await open.ask('/graphql', graphql)).toMatchObject({
      status: 401,
      body: { documentation_url: 'https://docs.github.com/graphql' },
    })
    open.sim.chaos.reinstate('ada')
    expect(await open.ask('/user')).toMatchObject({ status: 200 })
    open.sim.chaos.revoke('ada')
    open.sim.chaos.reinstate('ada', 'ghp_new')
    expect(open.sim.tokenOf('ada')).toBe('ghp_new')
    expect(await open.ask('/user')).toMatchObject({ status: 200 })
  })

  test('[G-07] a rule that says nothing sensible is refused', () => {
    expect(chaosRule.safeParse({ trouble: 'earthquake' }).success).toBe(false)
    expect(chaosRule.safeParse({ trouble: 'empty', tims: 3 }).success).toBe(false)
  })
})
