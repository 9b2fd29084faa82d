/** Pull requests: one row, whichever list brings it. */
import { expect } from 'vitest'
import { pullRequestRow, test } from '../../../../test/support/collector-scene.ts'
import { storePullRequests } from './pull-request.ts'

const look = 'select * from collector.pull_request order by repository_id, number'

test('[C-17] a pull request is stored with its merge, its base and its head', async ({ engine, client, addUser }) => {
  const { id } = await addUser(1)
  const row = pullRequestRow({ number: 1, baseStars: 77, headOwnerId: 3 })
  await engine.transaction((tx) => storePullRequests(tx, id, [pullRequestRow({ number: 1, repositoryId: 5 }), row, row]))
  expect((await client.query(look)).rows).toMatchObject([
    { repository_id: '5', number: 1 },
    {
      repository_id: '900',
      number: 1,
      merged_at: new Date('2026-01-02'),
      base_stars: 77,
      base_owner_id: '2',
      head_owner_id: '3',
      base_name: 'other/thing',
    },
  ])
})

test('[C-04] the list of a repository and the list of a user meet in one row, and neither takes away what the other knew', async ({
  engine,
  client,
  addUser,
}) => {
  const { id } = await addUser(1)
  const poor = pullRequestRow({
    number: 1,
    additions: null,
    deletions: null,
    changedFiles: null,
    mergedById: null,
    baseStars: null,
    headOwnerId: null,
  })
  await engine.transaction((tx) => storePullRequests(tx, id, [pullRequestRow({ number: 1 })]))
  await engine.transaction((tx) => storePullRequests(tx, id, [poor]))
  expect((await client.query(look)).rows).toMatchObject([{ additions: 3, merged_by_id: '2', base_stars: 9, head_owner_id: '1' }])
})

test('[C-05] an older page never overwrites a newer row', async ({ engine, client, addUser }) => {
  const { id } = await addUser(1)
  const old = pullRequestRow({ number: 1, state: 'open', mergedAt: null, closedAt: null, updatedAt: '2026-01-01T00:00:00Z' })
  for (const rows of [[pullRequestRow({ number: 1 }), old], [old]])
    await engine.transaction((tx) => storePullRequests(tx, id, rows))
  expect((await client.query(look)).rows).toMatchObject([{ state: 'closed', merged_at: new Date('2026-01-02') }])
})
