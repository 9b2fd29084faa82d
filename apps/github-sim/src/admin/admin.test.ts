import { describe, expect, test } from 'vitest'
import { openSim } from '../testing/open-sim.ts'

describe('admin', () => {
  test('[G-07] tells the truth, the tokens and the log', async () => {
    const open = await openSim()
    await open.ask('/user')
    expect((await open.admin('/truth/ada')).body).toEqual(JSON.parse(JSON.stringify(open.sim.world.groundTruth('ada'))))
    expect((await open.admin('/truth/nobody')).status).toBe(404)
    expect((await open.admin('/tokens')).body).toMatchObject([{ login: 'ada', token: open.sim.tokenOf('ada'), revoked: false }])
    expect((await open.admin('/oracle?since=0')).body).toMatchObject({
      summary: { requests: 1, units: 1, byOperation: { '/user': 1 }, perAccount: { 1001: { requests: 1, units: 1 } } },
      entries: [{ n: 1, account: 1001, method: 'GET', path: '/user', status: 200, units: 1, inFlight: 1 }],
    })
    await open.admin('/oracle/reset', {})
    expect(open.sim.oracle.summary().requests).toBe(0)
    expect(open.sim.tokenOf('ada')).toMatch(/^ghp_[A-Za-z0-9]{36}$/)
  })

  test('[G-07] moves the clock, does deeds and makes trouble', async () => {
    const open = await openSim()
    const before = open.sim.clock.now()
    await open.admin('/clock/advance', { ms: 3_600_000 })
    expect(open.sim.clock.now() - before).toBeGreaterThanOrEqual(3_600_000)
    const { body } = await open.admin('/churn/push', { repo: 100_001, count: 2 })
    expect(body).toMatchObject({ done: { head: open.sim.world.repos.get(100_001)!.head } })
    expect((await open.admin('/churn/step', { share: 0.5 })).status).toBe(200)
    await open.admin('/chaos', { trouble: 'unavailable', times: 1 })
    expect(await open.ask('/user')).toMatchObject({ status: 503 })
    await open.admin('/chaos', { revoke: 'ada' })
    expect(await open.ask('/user')).toMatchObject({ status: 401 })
    await open.admin('/chaos', { reinstate: 'ada' })
    expect(await open.ask('/user')).toMatchObject({ status: 200 })
  })

  test('[G-07] refuses what makes no sense, and says why', async () => {
    const open = await openSim()
    expect((await open.admin('/clock/advance', { ms: -1 })).status).toBe(400)
    expect((await open.admin('/churn/dance', {})).body).toMatchObject({ message: expect.stringContaining('renameWithReuse') })
    expect((await open.admin('/churn/push', { repo: 1 })).body).toMatchObject({
      message: expect.stringContaining('no repository 1'),
    })
    expect((await open.admin('/chaos', { trouble: 'earthquake' })).status).toBe(400)
    expect((await open.admin('/nothing')).status).toBe(404)
  })

  test('[G-07] is not reachable through the port that is GitHub', async () => {
    const open = await openSim()
    for (const path of ['/truth/ada', '/oracle', '/tokens']) expect(await open.ask(path)).toMatchObject({ status: 404 })
  })
})
