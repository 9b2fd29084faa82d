/** Issues: the younger state wins, whichever page comes last. */
import { expect } from 'vitest'
import { issueRow, test } from '../../../../test/support/collector-scene.ts'
import { storeIssues } from './issue.ts'

const look =
  'select number, state, title, closed_at, closed_by_id, is_pull_request, comments, truncated from collector.issue order by number'

test('[C-17] an issue is stored with its closing, and a pull request among issues says so', async ({
  engine,
  client,
  addUser,
}) => {
  const { id } = await addUser(1)
  const closed = issueRow({ number: 1, state: 'closed', closedAt: '2026-01-02T00:00:00Z', closedById: 1, comments: 3 })
  const rows = [issueRow({ number: 2, isPullRequest: true, title: 'x'.repeat(1_001) }), closed, closed]
  await engine.transaction((tx) => storeIssues(tx, id, 10, rows))
  expect((await client.query(look)).rows).toEqual([
    {
      number: 1,
      state: 'closed',
      title: closed.title,
      closed_at: new Date('2026-01-02'),
      closed_by_id: '1',
      is_pull_request: false,
      comments: 3,
      truncated: false,
    },
    {
      number: 2,
      state: 'open',
      title: 'x'.repeat(1_000),
      closed_at: null,
      closed_by_id: null,
      is_pull_request: true,
      comments: 0,
      truncated: true,
    },
  ])
})

test('[C-05] an older page never overwrites a newer row, in one page or in two', async ({ engine, client, addUser }) => {
  const { id } = await addUser(1)
  const old = issueRow({ number: 1, updatedAt: '2026-01-02T00:00:00Z' })
  const young = issueRow({
    number: 1,
    state: 'closed',
    updatedAt: '2026-01-03T00:00:00Z',
    closedAt: '2026-01-03T00:00:00Z',
    closedById: 1,
  })
  await engine.transaction((tx) => storeIssues(tx, id, 10, [young, old]))
  await engine.transaction((tx) => storeIssues(tx, id, 10, [old]))
  expect((await client.query(look)).rows).toMatchObject([{ state: 'closed', closed_by_id: '1' }])
})

test('[C-12] a list that does not say who closed it keeps who did, unless it was closed again', async ({
  engine,
  client,
  addUser,
}) => {
  const { id } = await addUser(1)
  const closed = issueRow({ number: 1, state: 'closed', closedAt: '2026-01-02T00:00:00Z', closedById: 1 })
  const store = (row: object) => engine.transaction((tx) => storeIssues(tx, id, 10, [{ ...closed, ...row }]))
  const closer = async () => (await client.query(look)).rows[0].closed_by_id
  await store({})
  await store({ closedById: null })
  expect(await closer()).toBe('1')
  await store({ closedById: null, closedAt: '2026-01-05T00:00:00Z', updatedAt: '2026-01-05T00:00:00Z' })
  expect(await closer()).toBeNull()
  await store({ closedById: 2, closedAt: '2026-01-05T00:00:00Z', updatedAt: '2026-01-05T00:00:00Z' })
  await store({ state: 'open', closedById: null, closedAt: null, updatedAt: '2026-01-06T00:00:00Z' })
  expect(await closer()).toBeNull()
})
