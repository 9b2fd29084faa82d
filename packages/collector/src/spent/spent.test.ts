/** What runs spent: rows that are only added, and their sum, which is right before and after they are folded. */
import { defineRun } from '@sluice/engine'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { test } from '../../../../test/support/collector-scene.ts'
import { addSpent, foldSpent, readSpent } from './spent.ts'

test('[C-13] units and calls add up by budget, folded or not, and those of other runs stay apart', async ({ engine }) => {
  await addSpent(engine, 7, [])
  expect(await readSpent(engine, 7)).toEqual([
    { resource: 'core', calls: 0, units: 0 },
    { resource: 'graphql', calls: 0, units: 0 },
  ])
  for (const units of [1, 0, 3]) await addSpent(engine, 7, [{ resource: 'core', calls: 1, units }])
  await addSpent(engine, 7, [{ resource: 'graphql', calls: 2, units: 2 }])
  await addSpent(engine, 8, [{ resource: 'core', calls: 1, units: 100 }])
  const spent = [
    { resource: 'core', calls: 3, units: 4 },
    { resource: 'graphql', calls: 2, units: 2 },
  ]
  expect(await readSpent(engine, 7)).toEqual(spent)
  await engine.transaction((tx) => foldSpent(tx, 7))
  expect(await readSpent(engine, 7)).toEqual(spent)
  await addSpent(engine, 7, [{ resource: 'core', calls: 1, units: 1 }])
  await engine.transaction((tx) => foldSpent(tx, 7))
  expect((await readSpent(engine, 7))[0]).toEqual({ resource: 'core', calls: 4, units: 5 })
  const { rows } = await engine.query(sql`select run from collector.spent order by run, resource`)
  expect(rows).toHaveLength(3)
})

test('[C-13] what runs spent that nobody remembers any more is forgotten', async ({ engines, engine }) => {
  const walk = defineRun('walk', { plan: () => {} })
  const { runs } = engines({ runs: [walk] })
  const first = await runs.start(walk({}, { owner: 'a' }))
  const second = await runs.start(walk({}, { owner: 'b' }))
  for (const { id } of [first, second]) await addSpent(engine, id, [{ resource: 'core', calls: 1, units: 1 }])
  await engine.query(sql`delete from sluice.run where id = ${first.id}`)
  await engine.transaction((tx) => foldSpent(tx, second.id))
  expect((await readSpent(engine, first.id))[0]).toMatchObject({ units: 0 })
  expect((await readSpent(engine, second.id))[0]).toMatchObject({ units: 1 })
})
