/** Cursors: how far lists were read. */
import { expect } from 'vitest'
import { test } from '../../../../test/support/collector-scene.ts'
import { dropEtags, keepEtag, moveCursor, moveCursors, readCursor, readCursors } from './cursor.ts'

test('[C-05] what a move leaves out stays, null clears, and since never moves back', async ({ engine, addUser }) => {
  const { id } = await addUser(1)
  const at = { resource: 'commits', subject: 10 } as const
  const read = () => readCursor(engine, id, 'commits', 10)
  expect(await read()).toBeUndefined()
  await engine.transaction((tx) =>
    moveCursor(tx, id, { ...at, since: '2026-01-05T00:00:00Z', place: 'p', head: 'h', total: 7 }, 1),
  )
  expect(await read()).toMatchObject({
    ...at,
    since: new Date('2026-01-05'),
    place: 'p',
    head: 'h',
    total: 7,
    run: 1,
    etag: null,
  })
  await engine.transaction((tx) => moveCursor(tx, id, { ...at, place: null }, 2))
  expect(await read()).toMatchObject({ since: new Date('2026-01-05'), place: null, head: 'h', total: 7, run: 2 })
  await engine.transaction((tx) => moveCursor(tx, id, { ...at, since: new Date('2026-01-01'), head: null, total: 0 }, 3))
  expect(await read()).toMatchObject({ since: new Date('2026-01-05'), head: null, total: 0, run: 3 })
})

test('[C-05] many move at once, each by what it gives itself', async ({ engine, addUser }) => {
  const { id } = await addUser(1)
  const first = [10, 11].flatMap((subject) => [
    { resource: 'issues' as const, subject, place: `i${subject}` },
    { resource: 'pull-requests' as const, subject, place: `p${subject}` },
  ])
  await engine.transaction((tx) => moveCursors(tx, id, first, 1))
  const second = [
    { resource: 'issues' as const, subject: 10, since: '2026-01-01T00:00:00Z' },
    { resource: 'pull-requests' as const, subject: 10, place: null },
  ]
  await engine.transaction((tx) => moveCursors(tx, id, second, 2))
  await engine.transaction((tx) => moveCursors(tx, id, [], 3))
  const issues = await readCursors(engine, id, 'issues')
  expect([10, 11].map((subject) => [subject, issues.get(subject)?.place, issues.get(subject)?.run])).toEqual([
    [10, 'i10', 2],
    [11, 'i11', 1],
  ])
  expect((await readCursors(engine, id, 'pull-requests', [10, 99])).get(10)).toMatchObject({ place: null })
})

test('[G-04] an ETag is kept with its token, and a new token drops those of all collections of the user alone', async ({
  engine,
  addUser,
}) => {
  const [own, other] = [await addUser(1), await addUser(2)]
  const keep = (collection: number) =>
    engine.transaction((tx) => keepEtag(tx, collection, { resource: 'profile' }, { etag: '"x"', token: 'print' }, 1))
  await keep(own.id)
  await keep(other.id)
  await engine.transaction((tx) => moveCursor(tx, own.id, { resource: 'profile', place: 'p' }, 2))
  expect(await readCursor(engine, own.id, 'profile')).toMatchObject({ etag: '"x"', etagToken: 'print', place: 'p' })
  await engine.transaction((tx) => dropEtags(tx, 1))
  expect(await readCursor(engine, own.id, 'profile')).toMatchObject({ etag: null, etagToken: null, place: 'p' })
  expect(await readCursor(engine, other.id, 'profile')).toMatchObject({ etag: '"x"' })
})
