/** Events are kept by id, once. */
import { expect } from 'vitest'
import { test } from '../../../../test/support/collector-scene.ts'
import { storeEvents } from './event.ts'

test('[C-04] an event is kept once, as it was first seen, and a large one keeps its key numbers', async ({
  engine,
  client,
  addUser,
}) => {
  const { id } = await addUser(1)
  const event = {
    id: '17',
    type: 'PushEvent',
    repositoryId: 10,
    createdAt: '2026-01-01T00:00:00Z',
    payload: { push_id: 3, ref: '\0' },
  }
  const large = { ...event, id: '18', repositoryId: null, payload: { push_id: 4, body: 'x'.repeat(50_000) } }
  await engine.transaction((tx) => storeEvents(tx, id, [large, event, event]))
  await engine.transaction((tx) => storeEvents(tx, id, [{ ...event, payload: {} }]))
  const { rows } = await client.query('select id, type, repository_id, payload, truncated from collector.event order by id')
  expect(rows).toEqual([
    { id: '17', type: 'PushEvent', repository_id: '10', payload: { push_id: 3, ref: '\uFFFD' }, truncated: false },
    { id: '18', type: 'PushEvent', repository_id: null, payload: { push_id: 4 }, truncated: true },
  ])
})
