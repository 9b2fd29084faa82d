/** Tokens that GitHub no longer takes: everything of the user stops at the first refusal, and goes on with another token. */
import { expect } from 'vitest'
import { type Collecting, small, test } from '../../../../test/support/collecting.ts'
import { eventually } from '../../../../test/support/database.ts'
import { giveUp } from './give-up.ts'

const fresh = `ghp_${'b'.repeat(36)}`

async function refused({ collector, userId }: Collecting) {
  return eventually(async () => {
    const user = await collector.users.find(userId)
    return user?.tokenState === 'refused' ? user : undefined
  })
}

test('[C-08] a token that is revoked in the middle pauses the user, tells of it once, and another one goes on where it stopped', async ({
  collecting,
}) => {
  const people = [{ ...small, repositories: 12, commits: 1_500 }]
  const scene = await collecting({ sim: { people } })
  const { sim, engine, collector, userId, login } = scene
  // Answers are slow, so that several calls are on their way when the first refusal arrives.
  sim.chaos.script({ trouble: 'latency', ms: 300 })
  await collector.request(userId)
  await eventually(() => sim.oracle.entries().some(({ operation }) => operation === 'Repositories'))
  sim.chaos.revoke(login)
  await refused(scene)
  expect(await engine.owners.find(String(userId))).toMatchObject({ paused: 'GitHub refused its token' })
  await eventually(async () => (await engine.owners.find(String(userId)))?.inFlight === 0)
  const { afterRevocation } = sim.oracle.summary()
  expect(afterRevocation).toBeGreaterThan(0)
  expect(afterRevocation).toBeLessThanOrEqual(10)
  const told = (await engine.events.list({})).filter(({ type }) => type === 'collector.token-refused')
  expect(told).toMatchObject([{ payload: { userId } }])
  expect(JSON.stringify(told)).not.toContain(sim.tokenOf(login))
  sim.chaos.clear()
  sim.chaos.reinstate(login, fresh)
  await collector.users.rotateToken(userId, fresh)
  expect(await scene.ended()).toMatchObject({ state: 'completed', failed: 0 })
  expect(await scene.difference()).toEqual([])
  expect(sim.oracle.summary().afterRevocation).toBe(afterRevocation)
})

test('[C-08] a run whose token stays refused for seven days fails, and the user is free again', async ({
  collecting,
  client,
}) => {
  const scene = await collecting()
  const { sim, engine, collector, userId, login } = scene
  sim.chaos.revoke(login)
  await collector.request(userId)
  await refused(scene)
  await engine.enqueue(giveUp({ userId }, { key: 'too early', dedupe: 'keep' }))
  await eventually(async () => (await engine.inspect.jobs({ kind: giveUp.kindName, state: 'succeeded' })).items.length === 1)
  expect((await engine.runs.list({ owner: String(userId) }))[0]).toMatchObject({ state: 'running' })
  await client.query(`update collector.users set token_refused_at = now() - interval '7 days 1 minute'`)
  await engine.enqueue(giveUp({ userId }))
  const run = await scene.ended()
  expect(run).toMatchObject({ state: 'failed', error: { message: expect.stringContaining('7 days') } })
  sim.chaos.reinstate(login, fresh)
  await collector.users.rotateToken(userId, fresh)
  expect(await scene.collect()).toMatchObject({ state: 'completed', failed: 0 })
})

test('[C-08] a refusal of a token that was replaced meanwhile says nothing about the new one', async ({ collecting }) => {
  const { engine, collector, userId, sim, login } = await collecting({ start: false })
  const { refuseToken } = await import('./refuse-token.ts')
  const old = sim.tokenOf(login)
  sim.chaos.reinstate(login, fresh)
  await collector.users.rotateToken(userId, fresh)
  expect(await refuseToken(engine, userId, { reveal: () => old }, 'Bad credentials')).toBe(false)
  expect(await collector.users.find(userId)).toMatchObject({ tokenState: 'ok' })
})
