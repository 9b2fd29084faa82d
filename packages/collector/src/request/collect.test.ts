/** A whole collection against a simulated GitHub: what is stored is what is true, and what did not change costs next to nothing. */
import { expect } from 'vitest'
import { test } from '../../../../test/support/collecting.ts'
import { collect as collectRun } from './collect.ts'

test('[C-04] [C-05] a first collection stores what is true, and a second one over an unchanged account costs next to nothing', async ({
  collecting,
}) => {
  const { collect, difference, spent, sim } = await collecting()
  expect((await difference()).length).toBeGreaterThan(200)
  const run = await collect()
  expect(run).toMatchObject({ state: 'completed', failed: 0, trigger: 'manual' })
  expect(await difference()).toEqual([])
  spent()
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  expect(spent()).toBeLessThanOrEqual(4)
  expect(await difference()).toEqual([])
  expect(sim.oracle.summary()).toMatchObject({ overBudget: 0, sentWhileLimited: 0 })
})

test('[C-11] statistics that fail are tried again after 1, 2, 4, 8 and 16 minutes, and are a dead letter then', () => {
  const finalizer = collectRun.kinds.find(({ kindName }) => kindName === collectRun.finalizer)
  expect(finalizer?.retry.attempts).toBe(6)
  expect([1, 2, 3, 4, 5].map((attempt) => (finalizer?.retry.delayMs(attempt, 0.5) ?? 0) / 60_000)).toEqual([1, 2, 4, 8, 16])
})
