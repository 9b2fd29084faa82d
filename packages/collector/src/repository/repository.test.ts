/** Repositories: listed, renamed, gone and back; an old page never wins. */
import { describe, expect } from 'vitest'
import { repositoryRow, test } from '../../../../test/support/collector-scene.ts'
import { listedState, triedAgainAfterMs } from './listed-state.ts'
import {
  changeRepositoryState,
  findRepositories,
  findRepository,
  findUnlisted,
  renameRepository,
  storeRepositories,
} from './repository.ts'

describe('[C-17] repositories', () => {
  test('[C-17] what a listing shows is stored, and storing it again changes nothing', async ({ engine, addUser }) => {
    const { id } = await addUser(1)
    const row = repositoryRow({
      id: 10,
      ownerId: 5,
      ownerLogin: 'org',
      name: 'thing',
      fork: true,
      private: true,
      stars: 7,
      newestIssueAt: '2026-01-03T00:00:00Z',
    })
    await engine.transaction((tx) => storeRepositories(tx, id, [row, row], 1))
    const stored = await findRepository(engine, id, 10)
    expect(stored).toMatchObject({
      id: 10,
      ownerId: 5,
      ownerLogin: 'org',
      name: 'thing',
      fork: true,
      private: true,
      stars: 7,
      seenRun: 1,
    })
    expect(stored).toMatchObject({
      updatedAt: new Date(row.updatedAt),
      pushedAt: new Date(row.pushedAt as string),
      newestIssueAt: new Date('2026-01-03'),
    })
    await engine.transaction((tx) => storeRepositories(tx, id, [row], 1))
    expect(await findRepository(engine, id, 10)).toEqual(stored)
    expect(await findRepository(engine, id, 11)).toBeUndefined()
  })

  test('[C-05] an older page changes nothing but that the run has seen it; a push alone makes a page newer', async ({
    engine,
    addUser,
  }) => {
    const { id } = await addUser(1)
    const store = (row: object, run: number) =>
      engine.transaction((tx) => storeRepositories(tx, id, [repositoryRow({ id: 10, ...row })], run))
    await store({ name: 'new', updatedAt: '2026-02-01T00:00:00Z', pushedAt: '2026-03-01T00:00:00Z' }, 1)
    await store({ name: 'old', updatedAt: '2026-02-15T00:00:00Z', pushedAt: null }, 2)
    expect(await findRepository(engine, id, 10)).toMatchObject({ name: 'new', seenRun: 2 })
    await store({ name: 'pushed', updatedAt: '2026-02-01T00:00:00Z', pushedAt: '2026-03-02T00:00:00Z' }, 2)
    expect(await findRepository(engine, id, 10)).toMatchObject({ name: 'pushed', head: 'a'.repeat(40) })
  })

  test('[C-08] what a run did not list is found, unless it is known to be gone', async ({ engine, addUser }) => {
    const { id } = await addUser(1)
    await engine.transaction(async (tx) => {
      await storeRepositories(
        tx,
        id,
        [10, 11, 12, 13].map((one) => repositoryRow({ id: one })),
        1,
      )
      await storeRepositories(tx, id, [repositoryRow({ id: 10 })], 2)
      await changeRepositoryState(tx, id, 11, 'deleted', 'its id answers 404')
    })
    expect([...(await findUnlisted(engine, id, 2)).keys()]).toEqual([12, 13])
    expect([...(await findRepositories(engine, id, [10, 13])).keys()]).toEqual([10, 13])
    expect((await findRepositories(engine, id)).size).toBe(4)
  })

  test('[C-08] a state has a reason and a time, which go when the repository is listed again', async ({ engine, addUser }) => {
    const { id } = await addUser(1)
    await engine.transaction((tx) => storeRepositories(tx, id, [repositoryRow({ id: 10 })], 1))
    await engine.transaction((tx) => changeRepositoryState(tx, id, 10, 'blocked', 'dmca'))
    const blocked = await findRepository(engine, id, 10)
    expect(blocked).toMatchObject({ state: 'blocked', stateReason: 'dmca' })
    await engine.transaction((tx) => changeRepositoryState(tx, id, 10, 'blocked', 'dmca'))
    expect(await findRepository(engine, id, 10)).toEqual(blocked)
    await engine.transaction((tx) => storeRepositories(tx, id, [repositoryRow({ id: 10 })], 2))
    const back = await findRepository(engine, id, 10)
    expect(back).toMatchObject({ state: 'active', stateReason: null })
    expect(back?.stateSince.getTime()).toBeGreaterThan(blocked?.stateSince.getTime() as number)
  })

  test('[C-08] a rename changes the name and nothing else', async ({ engine, addUser }) => {
    const { id } = await addUser(1)
    await engine.transaction((tx) => storeRepositories(tx, id, [repositoryRow({ id: 10 })], 1))
    const before = await findRepository(engine, id, 10)
    await engine.transaction((tx) => renameRepository(tx, id, { id: 10, name: 'other', ownerId: 9, ownerLogin: 'org' }))
    expect(await findRepository(engine, id, 10)).toEqual({ ...before, name: 'other', ownerId: 9, ownerLogin: 'org' })
  })

  test('two runs that store the same repositories in opposite orders wait for each other', async ({ engine, addUser }) => {
    const { id } = await addUser(1)
    const rows = Array.from({ length: 200 }, (_, at) => repositoryRow({ id: at + 1 }))
    const store = (run: number) => engine.transaction((tx) => storeRepositories(tx, id, run % 2 ? rows : rows.toReversed(), run))
    await Promise.all(Array.from({ length: 8 }, (_, run) => store(run + 1)))
    expect((await findRepositories(engine, id)).size).toBe(200)
  })
})

describe('[C-08] the state that a listing gives', () => {
  const since = new Date('2026-01-01T00:00:00Z')
  const soon = since.getTime() + triedAgainAfterMs - 1
  const later = since.getTime() + triedAgainAfterMs
  test.for([
    ['a new one', undefined, { head: 'a' }, soon, 'active'],
    ['one without commits', undefined, { head: null }, soon, 'empty'],
    ['one that GitHub disabled', undefined, { head: 'a', disabled: true }, soon, 'blocked'],
    ['one that was deleted', 'deleted', { head: 'a' }, soon, 'active'],
    ['one that was left', 'left', { head: null }, soon, 'empty'],
    ['one that was blocked today', 'blocked', { head: 'a' }, soon, 'blocked'],
    ['one that was forbidden today', 'forbidden', { head: 'a' }, soon, 'forbidden'],
    ['one that was blocked a day ago', 'blocked', { head: 'a' }, later, 'active'],
    ['one that has its first commit', 'empty', { head: 'a' }, soon, 'active'],
  ] as const)('%s', ([, state, listed, now, expected]) => {
    expect(listedState(state && { state, stateSince: since }, listed, now)).toBe(expected)
  })
})
