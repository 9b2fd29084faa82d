/** What a comparison will cost, held against what the simulator charges for it. */
import { expect } from 'vitest'
import { test } from '../../../../test/support/collecting.ts'
import { eventually } from '../../../../test/support/database.ts'
import { estimateCost } from './estimate.ts'

test('[C-13] by REST each commit is a call, by GraphQL a hundred of them are a point', () => {
  const repositories = [
    { commits: 1_000, issues: 120, pullRequests: 30 },
    { commits: 0, issues: 0, pullRequests: 0 },
  ]
  // Profile and events; two orders; 1,000 commits and their 10 pages, 2 of issues, 1 of pull requests; a page each of the empty one.
  expect(estimateCost('rest', { repositories, ownPullRequests: 4 }).units).toEqual({ core: 2 + 2 + 1_013 + 3, graphql: 1 })
  expect(estimateCost('graphql', { repositories, ownPullRequests: 4 }).units).toEqual({ core: 2, graphql: 2 + 1 + 10 + 2 + 1 })
})

test('[C-13] what a comparison costs is told before it starts, near to what it costs then, beside what is left', async ({
  collecting,
}) => {
  const { collector, collect, userId } = await collecting()
  expect(await collector.shadows.estimate(userId)).toBeUndefined()
  await collect()
  const outlook = await collector.shadows.estimate(userId)
  expect(outlook?.quota.map(({ resource, remaining }) => [resource, typeof remaining])).toEqual([
    ['core', 'number'],
    ['graphql', 'number'],
  ])
  await collector.shadows.start(userId)
  const report = await eventually(async () => (await collector.shadows.newest(userId))?.report ?? undefined, 60_000)
  for (const [at, { strategy, units }] of (outlook?.sides ?? []).entries()) {
    const side = report.sides[at]
    expect(side?.strategy).toBe(strategy)
    for (const { resource, units: spent } of side?.spent ?? []) {
      expect(units[resource], `${strategy} ${resource}`).toBeGreaterThanOrEqual(Math.floor(spent * 0.9) - 2)
      expect(units[resource], `${strategy} ${resource}`).toBeLessThanOrEqual(Math.ceil(spent * 1.1) + 2)
    }
  }
})

test('[C-13] [C-14] how far a comparison is can be seen for each of its sides', async ({ collecting }) => {
  const { collector, userId, engine } = await collecting()
  expect(await collector.shadows.progress(userId)).toBeUndefined()
  await engine.pause({ scope: 'kind', name: 'github.profile' }, 'held')
  const { id, sides } = await collector.shadows.start(userId)
  const seen = await eventually(async () => {
    const progress = await collector.shadows.progress(userId)
    return progress?.sides.every(({ progress: { jobs } }) => jobs.total > 1) ? progress : undefined
  })
  expect(seen.shadow).toMatchObject({ id, report: null })
  expect(seen.sides.map(({ strategy, progress }) => [strategy, progress.run.id])).toEqual(
    sides.map(({ strategy, run }) => [strategy, run]),
  )
  await engine.resume({ scope: 'kind', name: 'github.profile' })
  await eventually(async () => (await collector.shadows.newest(userId))?.report ?? undefined, 60_000)
})
