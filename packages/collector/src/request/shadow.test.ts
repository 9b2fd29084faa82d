/** A shadow is filled by the other strategy beside the live data, and a switch of strategy keeps what is there. */
import { expect } from 'vitest'
import { small, test } from '../../../../test/support/collecting.ts'
import { eventually } from '../../../../test/support/database.ts'

const few = { people: [{ ...small, repositories: 3, commits: 30, issues: 12, pullRequests: 8 }] }

test('[C-13] a shadow has the same commits, and the live data stay as they are', async ({ collecting, client }) => {
  const { engine, collector, userId, collect } = await collecting({ sim: few })
  await collect()
  const count = async (purpose: string) =>
    (
      await client.query(
        `select count(*)::int as commits, count(additions)::int as counted, max(walk)::int as walk
         from collector.commit where gone_at is null and collection_id in (select id from collector.collection where purpose = $1)`,
        [purpose],
      )
    ).rows[0] as { commits: number; counted: number; walk: number }
  const live = await count('live')
  const shadow = await collector.collections.createShadow(userId, 'rest')
  await collector.request(userId, { collection: shadow.id })
  const ended = async () =>
    (await engine.runs.list({ kind: 'collector.shadow-rest', owner: String(userId) }))[0]?.state === 'completed'
  await eventually(ended, 60_000)
  expect(await count('live')).toEqual(live)
  expect(await count('shadow')).toMatchObject({ commits: live.commits, counted: live.commits })
  expect((await client.query('select from collector.user_statistics')).rows).toHaveLength(1)
})

test('[C-18] after a switch of strategy the other one goes on from the same cursors', async ({ collecting }) => {
  const { sim, collector, userId, collect, difference, spent } = await collecting({ sim: few })
  await collect()
  await collector.strategies.switchUser(userId, 'rest')
  const repo = [...sim.world.repos.values()].find(({ ownerId }) => ownerId === userId)?.id as number
  sim.clock.advance(3_600_000)
  sim.churn.lateMerge(repo, 2, 30)
  spent()
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  expect(await difference(['repository.head'])).toEqual([])
  expect(spent()).toBeLessThanOrEqual(30)
  await collector.strategies.switchUser(userId, 'graphql')
  sim.clock.advance(3_600_000)
  sim.churn.forcePush(repo, 1, 1)
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  expect(await difference()).toEqual([])
})
