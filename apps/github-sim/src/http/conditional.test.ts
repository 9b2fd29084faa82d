import { describe, expect, test } from 'vitest'
import { openSim } from '../testing/open-sim.ts'

const path = '/repositories/100001/issues?state=all'

describe('conditional requests', () => {
  test('[G-07] what is known already is not sent again, and costs nothing', async () => {
    const open = await openSim()
    const first = await open.ask(path)
    const etag = first.headers.get('etag')!
    const second = await open.ask(path, { headers: { 'if-none-match': etag } })
    expect(second).toMatchObject({ status: 304, body: '', remaining: first.remaining })
    expect(second.headers.get('etag')).toBe(etag)
    expect(await open.ask(path, { headers: { 'if-none-match': `W/${etag}, "other"` } })).toMatchObject({ status: 304 })
    expect(open.sim.oracle.summary()).toMatchObject({ requests: 3, units: 1 })
    expect(open.sim.oracle.entries().map(({ etagHit }) => etagHit)).toEqual([false, true, true])
    open.sim.churn.commentIssue(100_001)
    expect(await open.ask(path, { headers: { 'if-none-match': etag } })).toMatchObject({ status: 200 })
  })

  test('[G-07] an ETag serves one token and one Accept', async () => {
    const open = await openSim()
    open.sim.chaos.issueToken('ada', 'ghp_second')
    const headers = { 'if-none-match': (await open.ask(path, { token: 'ghp_second' })).headers.get('etag')! }
    const old = open.sim.world.byLogin('ada')!.id
    expect(open.sim.tokens.of(old)).toHaveLength(2)
    const [first] = open.sim.tokens.of(old)
    expect(await open.ask(path, { token: first!.token, headers })).toMatchObject({ status: 200 })
    expect(await open.ask(path, { token: 'ghp_second', headers: { ...headers, accept: 'application/json' } })).toMatchObject({
      status: 200,
    })
    expect(await open.ask(path, { token: 'ghp_second', headers })).toMatchObject({ status: 304 })
  })

  test('[G-07] Last-Modified serves every token, where it exists', async () => {
    const open = await openSim()
    const repo = await open.ask('/repositories/100001')
    const since = repo.headers.get('last-modified')!
    expect(await open.ask('/repositories/100001', { headers: { 'if-modified-since': since } })).toMatchObject({ status: 304 })
    open.sim.churn.star(100_001)
    expect(await open.ask('/repositories/100001', { headers: { 'if-modified-since': since } })).toMatchObject({ status: 200 })
    expect((await open.ask(path)).headers.has('last-modified')).toBe(false)
  })

  test('[G-07] a stranger pays for a 304', async () => {
    const open = await openSim()
    const first = await open.ask('/users/ada', { as: null })
    const headers = { 'if-none-match': first.headers.get('etag')! }
    expect(await open.ask('/users/ada', { as: null, headers })).toMatchObject({ status: 304, remaining: first.remaining - 1 })
  })

  test('[G-07] HEAD has the headers of GET and nothing else', async () => {
    const open = await openSim()
    const told = await open.ask(path, { method: 'HEAD' })
    expect(told).toMatchObject({ status: 200, body: '', remaining: 4999 })
    expect(told.headers.get('etag')).toBe((await open.ask(path)).headers.get('etag'))
  })

  test('[G-07] the Date header follows the virtual clock', async () => {
    const open = await openSim()
    open.sim.clock.advance(86_400_000)
    expect(Date.parse((await open.ask('/user')).headers.get('date')!)).toBeGreaterThanOrEqual(Date.UTC(2026, 5, 2, 12))
  })
})
