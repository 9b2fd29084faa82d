/**
 * While a deploy rolls on, old processes meet jobs of kinds that only the new ones know. They leave them alone: no attempt is burned and
 * what they do know is not held up.
 */
import { defineKind } from '@sluice/engine'
import { expect } from 'vitest'
import { effectTable, stepWrite } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { test } from '../support/processes.ts'

const brandNew = defineKind('brand.new', { run: () => {} })

test('[E-07] a worker leaves jobs of a kind it does not know to one that does, and burns no attempt', async ({
  engines,
  program,
}) => {
  const newer = engines({ kinds: [brandNew] })
  const jobs = await newer.enqueueMany(Array.from({ length: 25 }, (_, n) => brandNew({ n })))
  const older = program('step-worker')
  await older.hears('point', 'claimed')
  await older.hears('point', 'settled')
  await eventually(async () => (await newer.find(jobs[0]!.id))?.state === 'ready')
  // It was claimed and handed back, and its handler never began.
  expect(await newer.find(jobs[0]!.id)).toMatchObject({ attempt: 0, startedAt: null })
  expect(await newer.why(jobs[0]!.id)).toMatchObject({ reason: 'no worker knows this kind' })

  await newer.start()
  for (const { id } of jobs) await eventually(async () => (await newer.find(id))?.state === 'succeeded')
  for (const { id } of jobs) {
    expect(await newer.find(id)).toMatchObject({ attempt: 1, worker: newer.status().worker })
    expect(await newer.attempts(id)).toHaveLength(1)
  }
})

test('jobs behind a long line of unknown ones are not held up, and the unknown ones are not taken up again and again', async ({
  client,
  engines,
  program,
}) => {
  await client.query(effectTable)
  const newer = engines({ kinds: [brandNew, stepWrite] })
  await newer.enqueueMany(Array.from({ length: 1_000 }, (_, n) => brandNew({ n }, { priority: 100 })))
  const known = await newer.enqueueMany([stepWrite({}), stepWrite({})])
  const older = program('step-worker')
  for (const { id } of known) await eventually(async () => (await newer.find(id))?.state === 'succeeded')

  // Whatever was claimed once has a fence. Once the older one knows what it does not know, it claims no more of them.
  const touched = async () => (await client.query(`select id from sluice.job where kind = 'brand.new' and fence > 0`)).rows.length
  const before = await touched()
  expect(before).toBeLessThan(50)
  const after = await newer.enqueue(stepWrite({}))
  await eventually(async () => (await newer.find(after.id))?.state === 'succeeded')
  expect(await touched()).toBe(before)
  expect((await client.query('select max(attempt) as attempt from sluice.job')).rows).toEqual([{ attempt: 0 }])
  expect(older.alive).toBe(true)
})
