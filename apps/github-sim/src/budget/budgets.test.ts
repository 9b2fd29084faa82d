import { describe, expect, test } from 'vitest'
import { ada, openSim } from '../testing/open-sim.ts'
import { Budgets } from './budgets.ts'
import { SecondaryLimits } from './secondary.ts'

const hour = 3_600_000

describe('budgets', () => {
  test('[G-07] a window begins with the first unit spent, and ends on a whole second', () => {
    const budgets = new Budgets({ windowMs: hour, limit: 10, graphqlLimit: 10 })
    expect(budgets.charge(1, 'core', 3, 500).state).toMatchObject({ used: 3, remaining: 7, resetAt: hour + 1000 })
    expect(budgets.charge(1, 'core', 1, hour).state).toMatchObject({ used: 4, resetAt: hour + 1000 })
    expect(budgets.charge(1, 'core', 1, hour + 1000).state).toMatchObject({ used: 1, resetAt: 2 * hour + 1000 })
  })

  test('[G-07] who cannot pay pays nothing', () => {
    const budgets = new Budgets({ windowMs: hour, limit: 10, graphqlLimit: 10 })
    expect(budgets.charge(1, 'graphql', 11, 0)).toMatchObject({ paid: false, state: { used: 0 } })
    expect(budgets.charge(1, 'graphql', 10, 0)).toMatchObject({ paid: true, state: { remaining: 0 } })
    expect(budgets.charge(1, 'graphql', 1, 0)).toMatchObject({ paid: false })
  })

  test('[G-07] the last permitted call says that nothing is left and still answers; the next is refused until the reset', async () => {
    const open = await openSim({ limit: 2 })
    expect(await open.ask('/user')).toMatchObject({ status: 200, remaining: 1 })
    const last = await open.ask('/user')
    expect(last).toMatchObject({ status: 200, remaining: 0 })
    const refused = await open.ask('/user')
    expect(refused).toMatchObject({ status: 403, remaining: 0 })
    expect(refused.body).toMatchObject({ message: 'API rate limit exceeded for user ID 1001.', status: '403' })
    expect(refused.headers.get('x-ratelimit-reset')).toBe(last.headers.get('x-ratelimit-reset'))
    expect(open.sim.oracle.summary()).toMatchObject({ requests: 3, units: 2, overBudget: 1 })
    open.sim.clock.advance(hour + 1000)
    expect(await open.ask('/user')).toMatchObject({ status: 200, remaining: 1 })
  })

  test('[G-07] requests side by side never get more than the budget', async () => {
    const open = await openSim({ limit: 10, latencyMs: 5 })
    const told = await Promise.all(Array.from({ length: 40 }, () => open.ask('/user')))
    expect(told.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(open.sim.oracle.summary()).toMatchObject({ requests: 40, units: 10, overBudget: 30 })
  })

  test('[G-07] all tokens of an account share its budget, whatever scheme they come by', async () => {
    const open = await openSim()
    open.sim.chaos.issueToken('ada', 'ghp_second')
    await open.ask('/user')
    expect(await open.ask('/user', { as: null, headers: { authorization: 'token ghp_second' } })).toMatchObject({
      remaining: 4998,
    })
    const basic = `Basic ${Buffer.from('x-access-token:ghp_second').toString('base64')}`
    expect(await open.ask('/user', { as: null, headers: { authorization: basic } })).toMatchObject({ remaining: 4997 })
  })

  test('[G-07] resources have budgets of their own, and looking at them is free', async () => {
    const open = await openSim({ people: [ada, { ...ada, login: 'ben' }] })
    await open.ask('/user')
    await open.ask('/search/issues?q=author:ada')
    const { body, status } = await open.ask('/rate_limit')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      resources: { core: { limit: 5000, used: 1 }, search: { limit: 30, used: 1 }, graphql: { limit: 5000, used: 0 } },
      rate: { used: 1 },
    })
    expect((await open.ask('/rate_limit', { headers: { 'x-github-api-version': '2026-03-10' } })).body).not.toHaveProperty('rate')
    expect((await open.ask('/rate_limit', { as: 'ben' })).body).toMatchObject({ resources: { core: { used: 0 } } })
    expect((await open.ask('/rate_limit', { as: null })).body).toMatchObject({ resources: { core: { limit: 60 } } })
  })

  test('[G-07] a 401 carries the budget of strangers, and leaves the account alone', async () => {
    const open = await openSim()
    await open.ask('/user')
    const refused = await open.ask('/user', { token: 'ghp_wrong' })
    expect(refused).toMatchObject({ status: 401, body: { message: 'Bad credentials', status: '401' } })
    expect(refused.headers.get('x-ratelimit-limit')).toBe('60')
    expect(await open.ask('/user')).toMatchObject({ status: 200, remaining: 4998 })
  })

  test('[G-07] the announced end of a window may waver by a second, the window itself does not', async () => {
    const open = await openSim({ resetJitterSeconds: 1 })
    const resets: number[] = []
    for (let at = 0; at < 3; at++) resets.push(Number((await open.ask('/user')).headers.get('x-ratelimit-reset')))
    const end = open.sim.budgets.state(1001, 'core', open.sim.clock.now()).resetAt / 1000
    expect(resets.toSorted((a, b) => a - b)).toEqual([end - 1, end, end + 1])
  })

  test('[G-07] who keeps knocking with a revoked token is locked out, good tokens included', async () => {
    const open = await openSim({ loginAttempts: 3 })
    const old = open.sim.tokenOf('ada')
    expect(open.sim.chaos.revoke('ada')).toEqual([old])
    open.sim.chaos.issueToken('ada', 'ghp_good')
    for (let at = 0; at < 3; at++) expect(await open.ask('/user', { token: old })).toMatchObject({ status: 401 })
    const locked = await open.ask('/user', { token: 'ghp_good' })
    expect(locked).toMatchObject({ status: 403, body: { message: expect.stringContaining('Maximum number of login attempts') } })
    expect(open.sim.oracle.summary()).toMatchObject({ afterRevocation: 2 })
    open.sim.clock.advance(300_001)
    expect(await open.ask('/user', { token: 'ghp_good' })).toMatchObject({ status: 200 })
  })

  test('[G-07] too many at once, or too many a minute, is a secondary limit that says how long to wait', async () => {
    const limits = new SecondaryLimits({ concurrent: 3, pointsPerMinute: Number.POSITIVE_INFINITY })
    expect([1, 3, 4].map((inFlight) => limits.check(1, 'rest', inFlight, 0))).toEqual([undefined, undefined, 60_000])
    const crowd = await openSim({ secondary: { concurrent: 0 } })
    const refused = await crowd.ask('/user')
    expect(refused).toMatchObject({ status: 403, remaining: 5000 })
    expect(refused.body).toMatchObject({ message: expect.stringContaining('secondary rate limit') })
    expect(refused.headers.get('retry-after')).toBe('60')

    const fast = await openSim({ secondary: { pointsPerMinute: 2 } })
    for (const status of [200, 200, 403]) expect(await fast.ask('/user')).toMatchObject({ status })
    expect(fast.sim.oracle.summary().sentWhileLimited).toBe(0)
    fast.sim.clock.advance(1000)
    expect(await fast.ask('/user')).toMatchObject({ status: 403 })
    expect(fast.sim.oracle.summary().sentWhileLimited).toBe(1)
    fast.sim.clock.advance(60_000)
    expect(await fast.ask('/user')).toMatchObject({ status: 200 })
  })
})
