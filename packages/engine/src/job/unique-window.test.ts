/** A unique window: no second job with the key within a period, even if the first has finished long ago. */
import { expect } from 'vitest'
import { test } from '../../../../test/support/database.ts'
import { createTestKit } from '../testing/test-kit.ts'
import { defineKind } from './kind.ts'
import { fail } from './outcome.ts'

const digest = defineKind('digest', { uniqueFor: '1d', run: () => {} })

test('[E-05] a window outlives its job: the second enqueue gets the first one’s id until the window is over', async ({
  database,
}) => {
  const kit = await createTestKit({ database: database.url, kinds: [digest] })
  const first = await kit.enqueue(digest({ to: 'ann' }))
  expect(first.created).toBe(true)
  await kit.drain()
  await kit.advance('23h')
  expect(await kit.enqueue(digest({ to: 'ann' }))).toEqual({ id: first.id, created: false })
  expect(await kit.drain()).toEqual([])
  await kit.advance('1h')
  const second = await kit.enqueue(digest({ to: 'ann' }))
  expect(second.created).toBe(true)
  expect(second.id).not.toBe(first.id)
  await kit.close()
})

test('[E-05] a window starts with its job and is not prolonged by those that it turned away', async ({ database }) => {
  const kit = await createTestKit({ database: database.url, kinds: [digest] })
  await kit.enqueue(digest({}))
  await kit.drain()
  await kit.advance('20h')
  await kit.enqueue(digest({}))
  await kit.advance('4h')
  expect(await kit.enqueue(digest({}))).toMatchObject({ created: true })
  await kit.close()
})

test('[E-05] a job that is still active when its window is over keeps its key', async ({ database }) => {
  const kit = await createTestKit({ database: database.url, kinds: [digest] })
  const first = await kit.enqueue(digest({}, { delay: '3d' }))
  await kit.advance('2d')
  expect(await kit.enqueue(digest({}))).toEqual({ id: first.id, created: false })
  await kit.close()
})

test('[E-05] a window also holds when its job failed', async ({ database }) => {
  const bad = defineKind('bad', { uniqueFor: '1h', run: () => fail('no') })
  const kit = await createTestKit({ database: database.url, kinds: [bad] })
  const first = await kit.enqueue(bad({}))
  await kit.drain()
  expect(await kit.enqueue(bad({}))).toEqual({ id: first.id, created: false })
  await kit.close()
})

test('[E-05] keys and payloads have windows of their own, and the caller can set another period', async ({ database }) => {
  const kit = await createTestKit({ database: database.url, kinds: [digest] })
  const made = await kit.enqueueMany([
    digest({ to: 'ann' }),
    digest({ to: 'ben' }),
    digest({}, { key: 'k', uniqueFor: '10s' }),
    digest({ to: 'ann' }),
    digest({}, { key: 'k' }),
  ])
  expect(made.map(({ created }) => created)).toEqual([true, true, true, false, false])
  await kit.drain()
  await kit.advance('11s')
  expect(await kit.enqueue(digest({}, { key: 'k' }))).toMatchObject({ created: true })
  await kit.close()
})

test('[E-05] a rolled-back enqueue leaves no window', async ({ engines, client }) => {
  const engine = engines({ kinds: [digest] })
  await client.query('begin')
  await engine.enqueue(digest({}), { client })
  await client.query('rollback')
  expect(await engine.enqueue(digest({}))).toMatchObject({ created: true })
})
