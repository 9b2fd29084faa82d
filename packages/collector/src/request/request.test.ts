/** The one way in, and the daily one. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { small, test } from '../../../../test/support/collecting.ts'
import { eventually } from '../../../../test/support/database.ts'
import { daily, placeInDay } from './daily.ts'
import { collectionRequested } from './request-event.ts'

const few = { people: [{ ...small, repositories: 2, commits: 5, issues: 3, pullRequests: 2, ownPullRequestsElsewhere: 0 }] }

test('[C-02] of requests at the same moment one starts a run, and its trigger is stored on it', async ({ collecting }) => {
  const { engine, userId, ended } = await collecting({ sim: few, start: false })
  // The run does not end before all of them were looked at.
  await engine.pause({ scope: 'kind', name: 'github.profile' }, 'held')
  const request = (trigger: 'signup' | 'scheduled') => collectionRequested({ userId, trigger }, { owner: String(userId) })
  await engine.publish(request('signup'))
  await engine.publish(request('scheduled'))
  await engine.publish(request('scheduled'))
  await engine.start()
  await eventually(async () => (await engine.inspect.jobs({ kind: 'collector.request', state: 'succeeded' })).items.length === 3)
  await engine.resume({ scope: 'kind', name: 'github.profile' })
  await ended()
  const runs = await engine.runs.list({ kind: 'collector.collect', owner: String(userId) })
  expect(runs).toMatchObject([{ trigger: expect.stringMatching(/signup|scheduled/), state: 'completed' }])
})

test('[C-02] while a run is under way a request has no effect', async ({ collecting }) => {
  const { engine, collector, userId, ended } = await collecting({ sim: few })
  await engine.pause({ scope: 'kind', name: 'github.profile' }, 'held')
  await collector.request(userId, { trigger: 'signup' })
  await eventually(async () => (await engine.runs.list({ owner: String(userId) })).length === 1)
  await engine.publish(collectionRequested({ userId, trigger: 'scheduled' }, { owner: String(userId) }))
  await expect(collector.request(userId)).rejects.toMatchObject({ code: 'COLLECTION_ACTIVE' })
  await eventually(async () => (await engine.inspect.jobs({ kind: 'collector.request', state: 'succeeded' })).items.length === 2)
  await engine.resume({ scope: 'kind', name: 'github.profile' })
  await ended()
  const runs = await engine.runs.list({ kind: 'collector.collect', owner: String(userId) })
  expect(runs).toMatchObject([{ trigger: 'signup', state: 'completed' }])
})

test('[C-10] the daily job asks for every user whose token is good, from a day ago on', async ({ collecting, client }) => {
  const { engine, userId, ended } = await collecting({ sim: few, parts: { daily: { spread: 0 } } })
  await engine.enqueue(daily({}))
  expect(await ended()).toMatchObject({
    trigger: 'scheduled',
    state: 'completed',
    payload: { userId, start: expect.any(String) },
  })
  await client.query(`update collector.users set token_state = 'refused', token_refused_at = now()`)
  await engine.enqueue(daily({}))
  await eventually(async () => (await engine.inspect.jobs({ kind: 'collector.daily', state: 'succeeded' })).items.length === 2)
  expect((await engine.inspect.jobs({ kind: 'collector.daily-request' })).items).toHaveLength(1)
  expect((await engine.schedules.list()).map(({ name }) => name)).toEqual(['collector.daily', 'collector.prune'])
})

test('[C-10] a user has the same place every day, and users are spread evenly', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1 }), fc.integer({ min: 1, max: 1e9 }), (id, spread) => {
      const place = placeInDay(id, spread)
      expect(place).toBe(placeInDay(id, spread))
      expect(place >= 0 && place < spread).toBe(true)
    }),
  )
  const quarters = [0, 0, 0, 0]
  for (let id = 1; id <= 4_000; id++) quarters[Math.floor(placeInDay(id, 4))]!++
  for (const users of quarters) expect(Math.abs(users - 1_000)).toBeLessThan(150)
})

test('[C-11] a completed run has its statistics once, the user’s and the global ones', async ({ collecting, client }) => {
  const { collect, collector, userId } = await collecting({ sim: few })
  const { id } = await collect()
  const rows = async (table: string) => (await client.query(`select run::int from collector.${table}`)).rows
  expect(await rows('user_statistics')).toEqual([{ run: id }])
  expect(await rows('global_statistics')).toEqual([{ run: id }])
  expect(await collector.statistics.user(userId)).toMatchObject({ run: id })
})
