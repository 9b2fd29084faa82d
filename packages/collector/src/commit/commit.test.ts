/** Commits: seen, counted later, pushed away and back. */
import { expect } from 'vitest'
import { commitRow, test } from '../../../../test/support/collector-scene.ts'
import { findBareCommits, knownShas, markGone, storeCommitStatistics, storeCommits } from './commit.ts'

const look = 'select * from collector.commit order by sha'

test('[C-17] a commit is stored once, by the first line of its message', async ({ engine, client, addUser }) => {
  const { id } = await addUser(1)
  const row = commitRow({ sha: 'a', authorId: 7, message: `Say it\n\n${'long '.repeat(1_000)}` })
  await engine.transaction((tx) => storeCommits(tx, id, 10, [row, row, commitRow({ sha: 'b', message: 'x'.repeat(2_000) })], 1))
  await engine.transaction((tx) => storeCommits(tx, id, 10, [row], 1))
  const { rows } = await client.query(look)
  expect(rows).toMatchObject([
    {
      sha: 'a',
      author_id: '7',
      authored_at: new Date(row.authoredAt),
      additions: 10,
      deletions: 5,
      headline: 'Say it',
      truncated: false,
    },
    { sha: 'b', truncated: true },
  ])
})

test('[C-07] statistics that come later fill in, and a page without them takes none away', async ({
  engine,
  client,
  addUser,
}) => {
  const { id } = await addUser(1)
  const bare = commitRow({ sha: 'a', additions: null, deletions: null, changedFiles: null })
  await engine.transaction((tx) => storeCommits(tx, id, 10, [bare, commitRow({ sha: 'b' })], 1))
  expect(await findBareCommits(engine, id, 10)).toEqual(['a'])
  expect(await findBareCommits(engine, id, 10, { after: 'a' })).toEqual([])
  const known = { sha: 'a', additions: 4, deletions: 2, changedFiles: 1 }
  await engine.transaction((tx) => storeCommitStatistics(tx, id, 10, [known, { ...known, sha: 'unknown' }]))
  await engine.transaction((tx) => storeCommits(tx, id, 10, [bare], 2))
  expect((await client.query(look)).rows).toMatchObject([
    { sha: 'a', additions: 4, deletions: 2, changed_files: 1, walk: '2' },
    { sha: 'b' },
  ])
  expect(await findBareCommits(engine, id, 10)).toEqual([])
})

test('[C-06] what a full walk did not see is gone, is unknown from then on, and comes back when it is seen again', async ({
  engine,
  addUser,
}) => {
  const { id } = await addUser(1)
  const known = (repository = 10) => knownShas(engine, id, repository, ['a', 'b', 'c', 'd'])
  await engine.transaction((tx) =>
    storeCommits(
      tx,
      id,
      10,
      ['a', 'b', 'c'].map((sha) => commitRow({ sha })),
      1,
    ),
  )
  await engine.transaction((tx) => storeCommits(tx, id, 11, [commitRow({ sha: 'a' })], 1))
  const gone = await engine.transaction(async (tx) => {
    await storeCommits(
      tx,
      id,
      10,
      ['a', 'd'].map((sha) => commitRow({ sha })),
      2,
    )
    return markGone(tx, id, 10, 2)
  })
  expect(gone).toBe(2)
  expect(await known()).toEqual(new Set(['a', 'd']))
  expect(await known(11)).toEqual(new Set(['a']))
  expect(await engine.transaction((tx) => markGone(tx, id, 10, 2))).toBe(0)
  await engine.transaction((tx) => storeCommits(tx, id, 10, [commitRow({ sha: 'b' })], 3))
  expect(await known()).toEqual(new Set(['a', 'b', 'd']))
  // a late page of the older walk does not undo it
  await engine.transaction((tx) => storeCommits(tx, id, 10, [commitRow({ sha: 'b', authorId: null })], 2))
  expect(await engine.transaction((tx) => markGone(tx, id, 10, 3))).toBe(2)
  expect(await known()).toEqual(new Set(['b']))
})

test('an empty page is no statement', async ({ engine, addUser }) => {
  const { id } = await addUser(1)
  await engine.transaction(async (tx) => {
    await storeCommits(tx, id, 10, [], 1)
    await storeCommitStatistics(tx, id, 10, [])
  })
  expect(await knownShas(engine, id, 10, [])).toEqual(new Set())
})
