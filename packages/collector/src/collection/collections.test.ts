/** Collections: one live one a user, and shadows beside it. */
import { describe, expect } from 'vitest'
import { commitRow, test } from '../../../../test/support/collector-scene.ts'
import { knownShas, storeCommits } from '../commit/commit.ts'
import { createCollection } from './collection.ts'
import { Collections } from './collections.ts'

describe('[C-13] collections', () => {
  test('[C-13] a user has one live collection, however often it is made', async ({ engine, addUser }) => {
    const live = await addUser(1)
    const again = await engine.transaction((tx) => createCollection(tx, 1, 'live', 'rest'))
    expect(again).toEqual(live)
    expect(await new Collections(engine).live(1)).toEqual(live)
    expect(await new Collections(engine).live(2)).toBeUndefined()
  })

  test('[C-13] shadows stand beside it and are listed after it, the newest first', async ({ engine, addUser }) => {
    const live = await addUser(1)
    const collections = new Collections(engine)
    const first = await collections.createShadow(1, 'rest')
    const second = await collections.createShadow(1, 'graphql')
    expect(await collections.list(1)).toEqual([live, second, first])
    expect(await collections.find(first.id)).toMatchObject({ userId: 1, purpose: 'shadow', strategy: 'rest' })
    await expect(collections.createShadow(2, 'rest')).rejects.toMatchObject({ code: 'USER_UNKNOWN' })
  })

  test('[C-13] a shadow goes with its rows and touches nothing else; the live one cannot go alone', async ({
    engine,
    addUser,
  }) => {
    const live = await addUser(1)
    const collections = new Collections(engine)
    const shadow = await collections.createShadow(1, 'rest')
    for (const { id } of [live, shadow]) await engine.transaction((tx) => storeCommits(tx, id, 10, [commitRow({ sha: 'a' })], 1))
    expect(await collections.remove(shadow.id)).toBe(true)
    expect(await collections.remove(shadow.id)).toBe(false)
    expect(await knownShas(engine, shadow.id, 10, ['a'])).toEqual(new Set())
    expect(await knownShas(engine, live.id, 10, ['a'])).toEqual(new Set(['a']))
    await expect(collections.remove(live.id)).rejects.toMatchObject({ code: 'COLLECTION_LIVE' })
  })
})
