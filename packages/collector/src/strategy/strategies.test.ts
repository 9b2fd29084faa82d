/** Strategies as people switch them, and what is remembered of it. */
import { expect } from 'vitest'
import { test } from '../../../../test/support/collector-scene.ts'
import { findUser } from '../user/user.ts'
import { chooseForRun } from './choose.ts'
import { Strategies } from './strategies.ts'

test('[C-18] a user reads by the strategy for all until it has one of its own, and again when that is taken away', async ({
  engine,
  addUser,
}) => {
  await addUser(1)
  const strategies = new Strategies(engine)
  expect(await strategies.current(1)).toEqual({ strategy: 'graphql', chosen: null, lastSwitch: null })
  expect(await strategies.switchAll('rest', 'cheaper here')).toMatchObject({
    strategy: 'rest',
    lastSwitch: { userId: null, from: 'graphql', to: 'rest', madeBy: 'person', reason: 'cheaper here', state: 'watching' },
  })
  expect(await strategies.current(1)).toMatchObject({ strategy: 'rest', chosen: null })
  expect(await strategies.switchUser(1, 'graphql')).toMatchObject({ strategy: 'graphql', chosen: 'graphql' })
  expect(await strategies.current()).toMatchObject({ strategy: 'rest' })
  expect(await strategies.switchUser(1, null)).toMatchObject({ strategy: 'rest', chosen: null })
  expect((await strategies.history(1)).items).toMatchObject([
    { previous: 'graphql', chosen: null, from: 'graphql', to: 'rest', state: 'watching' },
    { previous: null, chosen: 'graphql', from: 'rest', to: 'graphql', state: 'replaced' },
  ])
})

test('[C-18] whoever says what is already so changes nothing, and a choice that means the same is not watched', async ({
  engine,
  addUser,
}) => {
  await addUser(1)
  const strategies = new Strategies(engine)
  await strategies.switchAll('graphql')
  expect((await strategies.history()).items).toEqual([])
  expect((await strategies.switchUser(1, 'graphql')).lastSwitch).toMatchObject({ state: 'kept' })
  await strategies.switchUser(1, 'graphql')
  expect((await strategies.history(1, { limit: 5 })).items).toHaveLength(1)
})

test('[C-18] runs are watched by the switch that they read by, and by no other', async ({ engine, addUser }) => {
  await addUser(1)
  await addUser(2)
  const strategies = new Strategies(engine)
  const all = (await strategies.switchAll('rest')).lastSwitch
  const own = (await strategies.switchUser(1, 'graphql')).lastSwitch
  const chosen = async (id: number) => {
    const user = await findUser(engine, id)
    return chooseForRun(engine, { id, strategy: user?.strategy ?? null }, 'graphql')
  }
  expect(await chosen(1)).toEqual({ strategy: 'graphql', watched: own?.id })
  expect(await chosen(2)).toEqual({ strategy: 'rest', watched: all?.id })
})

test('[C-18] what is switched at the same time by many is switched one after the other', async ({ engine, addUser }) => {
  await addUser(1)
  const strategies = new Strategies(engine)
  const words = ['rest', 'graphql', 'rest', 'graphql'] as const
  await Promise.all(words.flatMap((word) => [strategies.switchAll(word), strategies.switchUser(1, word)]))
  for (const user of [null, 1]) {
    const { items } = await strategies.history(user)
    expect(items.filter(({ state }) => state === 'watching').length).toBeLessThanOrEqual(1)
    for (const [at, one] of items.entries()) if (items[at + 1]) expect(one.previous).toBe(items[at + 1]?.chosen)
  }
})

test('[C-18] a strategy or a user that nobody knows is refused, and pages go on where the last one ended', async ({
  engine,
  addUser,
}) => {
  await addUser(1)
  const strategies = new Strategies(engine)
  await expect(strategies.switchAll('soap' as never)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  await expect(strategies.switchUser(1, 'soap' as never)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  await expect(strategies.switchUser(5, 'rest')).rejects.toMatchObject({ code: 'USER_UNKNOWN' })
  for (const word of ['rest', 'graphql', 'rest'] as const) await strategies.switchAll(word)
  const first = await strategies.history(null, { limit: 2 })
  const second = await strategies.history(null, { limit: 2, ...(first.next ? { cursor: first.next } : {}) })
  expect([...first.items, ...second.items].map(({ to }) => to)).toEqual(['rest', 'graphql', 'rest'])
})
