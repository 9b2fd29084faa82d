/** What a collection costs: the account of the comparison with other collectors, cold and warm. */
import { expect } from 'vitest'
import { test } from '../../../../test/support/collecting.ts'

const account = {
  login: 'ada',
  repositories: 50,
  commits: 10_000,
  issues: 2_000,
  pullRequests: 1_000,
  ownPullRequestsElsewhere: 20,
}

test('[C-05] [C-07] 10,000 commits, 2,000 issues and 1,000 pull requests in 50 repositories cost a few percent of an hour, and nothing new next to nothing', async ({
  collecting,
}) => {
  const { collect, difference, spent } = await collecting({ sim: { people: [account] } })
  spent()
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  const cold = spent()
  expect(await difference()).toEqual([])
  expect(cold).toBeLessThanOrEqual(200)
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  const warm = spent()
  expect(warm).toBeLessThanOrEqual(4)
})

test('[C-05] by REST a second collection is free as far as ETags go', async ({ collecting }) => {
  const { collect, spent, sim } = await collecting({ parts: { strategy: 'rest' } })
  spent()
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  expect(spent()).toBeGreaterThan(150)
  const before = sim.oracle.entries().length
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  expect(spent()).toBeLessThanOrEqual(4)
  expect(
    sim.oracle
      .entries()
      .slice(before)
      .filter(({ etagHit }) => etagHit).length,
  ).toBeGreaterThan(10)
})
