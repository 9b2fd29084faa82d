/** Two GitHubs and one database: whoever asks the one leaves the people of the other alone. */
import { generateMasterKey, KeyRing } from '@sluice/engine'
import { expect } from 'vitest'
import { test } from '../../../../test/support/collecting.ts'
import { eventually } from '../../../../test/support/database.ts'
import { collectorParts } from '../parts.ts'

test('[C-01] [C-02] a process that asks another GitHub refuses what is asked of a user, sends nothing, and says what to set', async ({
  collecting,
  engines,
  otherGithub: other,
}) => {
  const scene = await collecting({ start: false })
  const { userId, sim, engine } = scene
  const { open, ...parts } = collectorParts({ daily: false, github: { baseUrl: `${other.url}/` } })
  const stranger = open(engines(parts))
  const now = new Date()
  const refused = { code: 'USER_ELSEWHERE', details: { user: userId, address: sim.url, here: other.url } }
  await expect(stranger.request(userId)).rejects.toMatchObject(refused)
  await expect(stranger.backfill(userId, { from: now, to: now, slice: 'day' })).rejects.toMatchObject(refused)
  await expect(stranger.shadows.start(userId)).rejects.toMatchObject(refused)
  await expect(stranger.users.rotateToken(userId, other.tokenOf('ada'))).rejects.toMatchObject(refused)
  expect(other.oracle.entries()).toEqual([])
  // Somebody of the same login is another person; the one who is there keeps the login.
  await expect(stranger.users.register({ login: 'ada', token: other.tokenOf('ada') })).rejects.toMatchObject(refused)
  expect(await scene.collector.users.find('ada')).toMatchObject({ id: userId, apiUrl: sim.url })
  expect((await engine.events.list()).length).toBe(0)
})

test('[C-02] a run that such a process plans fails at once and says why', async ({ collecting, engines }) => {
  const { collector, userId, sim, engine } = await collecting({ start: false })
  const { open, ...parts } = collectorParts({ daily: false, github: { baseUrl: 'http://127.0.0.1:9' } })
  const worker = engines(parts)
  open(worker)
  await collector.request(userId)
  await worker.start()
  const run = await eventually(async () => {
    const [newest] = await engine.runs.list({ owner: String(userId), limit: 1 })
    return newest?.finishedAt ? newest : undefined
  })
  expect(run).toMatchObject({ state: 'failed', error: { message: expect.stringContaining(`an account at ${sim.url}`) } })
})

test('[C-01] a GitHub that has another address now is followed when somebody says so', async ({
  collecting,
  engines,
  otherGithub: other,
}) => {
  const { collector, userId, sim } = await collecting({ start: false })
  const { open, ...parts } = collectorParts({ daily: false, github: { baseUrl: other.url } })
  const moved = open(engines({ ...parts, secrets: KeyRing.fromText(generateMasterKey()) }))
  expect(await collector.users.find(userId)).toMatchObject({ apiUrl: sim.url })
  expect(await moved.users.rotateToken(userId, other.tokenOf('ada'), { move: true })).toMatchObject({ apiUrl: other.url })
  await expect(moved.request(userId)).resolves.toMatchObject({ userId })
  await expect(collector.request(userId)).rejects.toMatchObject({ code: 'USER_ELSEWHERE' })
})
