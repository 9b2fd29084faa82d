/** Users: registered with a token that is theirs, and everything that follows from it in one transaction. */

import type { Engine } from '@sluice/engine'
import { createGithub } from '@sluice/github'
import { describe, expect } from 'vitest'
import { type AccountServer, startAccountServer } from '../../../../test/support/account-server.ts'
import { test as base, nobodysApi } from '../../../../test/support/collector-scene.ts'
import { keepEtag, readCursor } from '../cursor/cursor.ts'
import { collectorMigrations } from '../migrations.ts'
import { distrustToken, findUser, insertUser, storeProfile } from './user.ts'
import { Users } from './users.ts'

const tokenOf = (name: string): string => `ghp_${name.padEnd(36, '0')}`
const ada = { id: 11, login: 'Ada', token: tokenOf('ada'), formerLogin: 'countess' }
const bob = { id: 12, login: 'bob', token: tokenOf('bob') }
const adaAgain = { ...ada, token: tokenOf('adaAgain') }

const test = base.extend<{ github: AccountServer; users: Users }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  github: async ({}, use) => {
    const server = await startAccountServer([ada, bob, adaAgain])
    await use(server)
    await server.stop()
  },
  users: async ({ engine, github }, use) => {
    await use(new Users(engine, createGithub({ baseUrl: github.url, timeoutMs: 5_000 })))
  },
})

const requests = (engine: Engine) => engine.events.list()

describe('[C-01] registering', () => {
  test('[C-02] the user, its token, its live collection and the request to collect it are there together', async ({
    client,
    engine,
    users,
  }) => {
    const user = await users.register({ login: 'ada', token: ada.token })
    expect(user).toMatchObject({ id: 11, login: 'Ada', name: 'Name of Ada', tokenState: 'ok', strategy: null, lastRun: null })
    expect(user).not.toHaveProperty('renamedFrom')
    expect((await engine.secrets.open('github:11')).reveal()).toBe(ada.token)
    expect((await client.query('select purpose from collector.collection where user_id = 11')).rows).toEqual([
      { purpose: 'live' },
    ])
    expect(await requests(engine)).toMatchObject([
      { type: 'collector.requested', owner: '11', payload: { userId: 11, trigger: 'signup' } },
    ])
    expect(await users.find('ADA')).toEqual(user)
    expect(await users.find(11)).toEqual(user)
  })

  test('[C-01] nothing that is stored or told has the token in it', async ({ client, users }) => {
    await users.register({ login: 'ada', token: ada.token })
    const { rows: tables } = await client.query(
      `select schemaname as s, tablename as t from pg_tables where schemaname in ('sluice', 'collector')`,
    )
    expect(tables.length).toBeGreaterThan(20)
    for (const { s, t } of tables) {
      const { rows } = await client.query(`select row_to_json(x)::text as row from ${s}."${t}" x`)
      for (const { row } of rows) expect(row).not.toContain(ada.token)
    }
    const refused = await users.register({ login: 'bob', token: ada.token }).catch((error: unknown) => error)
    expect(JSON.stringify([refused, String(refused), await users.list()])).not.toContain(ada.token)
    expect((refused as Error).stack).not.toContain(ada.token)
  })

  test('[C-01] without collecting, nothing is asked for', async ({ engine, users }) => {
    await users.register({ login: 'ada', token: ada.token, collect: false })
    expect(await requests(engine)).toEqual([])
  })

  test('[C-01] a login that was renamed is stored as it is now, and told', async ({ users }) => {
    expect(await users.register({ login: 'countess', token: ada.token })).toMatchObject({
      id: 11,
      login: 'Ada',
      renamedFrom: 'countess',
    })
  })

  test.for<[string, string, string, string, RegExp]>([
    ['a token of the wrong shape', 'ada', 'hunter2', 'TOKEN_WRONG_SHAPE', /does not begin/],
    ['a token that GitHub does not know', 'ada', tokenOf('nobody'), 'TOKEN_REFUSED', /Bad credentials/],
    ['a token of another', 'bob', ada.token, 'TOKEN_OF_ANOTHER', /belongs to "Ada", not to "bob"/],
    ['a login that does not exist', 'nobody', ada.token, 'LOGIN_UNKNOWN', /knows no "nobody".*belongs to "Ada"/],
    ['a login that cannot exist', 'a/../b', ada.token, 'LOGIN_WRONG_SHAPE', /no login/],
    ['a token where the login belongs', ada.token, ada.token, 'LOGIN_WRONG_SHAPE', /^(?!.*gh[pous]_\w)/],
  ])('[C-01] %s is refused, and nothing is stored', async ([, login, token, code, message], { engine, users }) => {
    await expect(users.register({ login, token })).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
    expect((await users.list()).items).toEqual([])
    expect(await engine.secrets.list()).toEqual([])
    expect(await requests(engine)).toEqual([])
  })

  test('[C-01] a token where a login belongs is never looked up, and not repeated', async ({ github, users }) => {
    const told = await users.find(ada.token).catch((error: Error) => error)
    expect(told).toMatchObject({ code: 'LOGIN_WRONG_SHAPE' })
    expect((told as Error).message).not.toContain(ada.token)
    await expect(users.register({ login: ada.token, token: ada.token })).rejects.toMatchObject({ code: 'LOGIN_WRONG_SHAPE' })
    expect(github.asked).toEqual([])
  })

  test.for<[string, NonNullable<AccountServer['trouble']>, string]>([
    ['no rights', { status: 403, body: { message: 'Resource not accessible by integration' } }, 'TOKEN_WITHOUT_RIGHTS'],
    [
      'too many attempts',
      { status: 403, body: { message: 'Maximum number of login attempts exceeded. Please try again later.' } },
      'TOKEN_REFUSED',
    ],
    [
      'a secondary limit',
      { status: 403, body: { message: 'You have exceeded a secondary rate limit.' }, headers: { 'retry-after': '7' } },
      'GITHUB_BUSY',
    ],
    ['a server in trouble', { status: 500, body: 'no' }, 'GITHUB_UNUSABLE'],
    ['something that is not JSON', { status: 200, body: '<html>' }, 'GITHUB_UNUSABLE'],
    ['an account without an id', { status: 200, body: { login: 'ada' } }, 'GITHUB_UNUSABLE'],
    ['a redirect', { status: 302, body: {}, headers: { location: '/elsewhere' } }, 'GITHUB_UNUSABLE'],
  ])('[C-01] GitHub answers %s: refused with a reason', async ([, trouble, code], { github, users }) => {
    github.trouble = trouble
    await expect(users.register({ login: 'ada', token: ada.token })).rejects.toMatchObject({ code })
    expect(await users.find('ada')).toBeUndefined()
  })

  test('[C-01] twice is refused, however close together', async ({ engine, users }) => {
    const twice = await Promise.allSettled([1, 2].map(() => users.register({ login: 'ada', token: ada.token })))
    expect(twice.map(({ status }) => status).toSorted((a, b) => a.localeCompare(b))).toEqual(['fulfilled', 'rejected'])
    expect(twice.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'USER_EXISTS' } })
    expect(await requests(engine)).toHaveLength(1)
  })

  test('[C-01] without a master key nothing is stored', async ({ engines, github }) => {
    const bare = engines({ migrations: [collectorMigrations] })
    const users = new Users(bare, createGithub({ baseUrl: github.url }))
    await expect(users.register({ login: 'ada', token: ada.token })).rejects.toMatchObject({ code: 'SECRETS_OFF' })
    expect(await users.find(11)).toBeUndefined()
  })
})

describe('[C-08] a new token', () => {
  test('[C-08] clears the refusal, drops ETags and lets the owner go on', async ({ engine, users }) => {
    await users.register({ login: 'ada', token: ada.token })
    const collection = 1
    await engine.transaction(async (tx) => {
      await keepEtag(tx, collection, { resource: 'profile' }, { etag: '"x"', token: 'old' }, 1)
      expect(await distrustToken(tx, 11, 'Bad credentials')).toBe(true)
      expect(await distrustToken(tx, 11, 'Bad credentials')).toBe(false)
      await engine.pause({ scope: 'owner', name: '11' }, 'token refused', { client: tx })
    })
    expect(await users.find(11)).toMatchObject({
      tokenState: 'refused',
      tokenRefusal: 'Bad credentials',
      tokenRefusedAt: expect.any(Date),
    })
    const user = await users.rotateToken(11, adaAgain.token)
    expect(user).toMatchObject({ tokenState: 'ok', tokenRefusal: null, tokenRefusedAt: null })
    expect((await engine.secrets.open('github:11')).reveal()).toBe(adaAgain.token)
    expect(await readCursor(engine, collection, 'profile')).toMatchObject({ etag: null })
    expect(await engine.pauses()).toEqual([])
  })

  test('[C-08] of somebody else is refused and changes nothing', async ({ engine, users }) => {
    await users.register({ login: 'ada', token: ada.token })
    await expect(users.rotateToken(11, bob.token)).rejects.toMatchObject({ code: 'TOKEN_OF_ANOTHER' })
    await expect(users.rotateToken(99, bob.token)).rejects.toMatchObject({ code: 'USER_UNKNOWN' })
    expect((await engine.secrets.open('github:11')).reveal()).toBe(ada.token)
  })
})

describe('[C-01] users', () => {
  test('[C-01] are listed in pages by id', async ({ users, addUser }) => {
    for (const id of [5, 3, 9]) await addUser(id)
    const first = await users.list({ limit: 2 })
    expect(first.items.map(({ id }) => id)).toEqual([3, 5])
    const second = await users.list({ cursor: first.next, limit: 2 })
    expect(second).toMatchObject({ items: [{ id: 9 }], next: undefined })
  })

  test('[C-01] a login belongs to whoever has it now', async ({ engine, addUser }) => {
    await addUser(1, 'name')
    await addUser(2, 'other')
    const profile = { id: 2, nodeId: 'U_2', login: 'NAME', name: 'N', followers: 5, createdAt: '2020-01-01T00:00:00Z' }
    await engine.transaction((tx) => storeProfile(tx, profile))
    expect(await findUser(engine, 'name')).toMatchObject({ id: 2, login: 'NAME', name: 'N' })
    expect(await findUser(engine, 1)).toMatchObject({ login: '~1' })
    await engine.transaction((tx) => insertUser(tx, { ...profile, id: 3, nodeId: 'U_3' }, nobodysApi))
    expect(await findUser(engine, 'name')).toMatchObject({ id: 3 })
  })

  test('[C-01] are removed with everything, and can come back', async ({ engine, client, users }) => {
    await users.register({ login: 'ada', token: ada.token })
    await engine.pause({ scope: 'owner', name: '11' }, 'token refused')
    expect(await users.remove(11)).toBe(true)
    expect(await users.remove(11)).toBe(false)
    expect(await users.find(11)).toBeUndefined()
    expect(await engine.secrets.list()).toEqual([])
    expect(await engine.pauses()).toEqual([])
    expect((await client.query('select from collector.collection')).rows).toEqual([])
    expect(await users.register({ login: 'ada', token: ada.token })).toMatchObject({ id: 11 })
  })
})
