/** Secrets on a database. */
import { inspect } from 'node:util'
import { expect } from 'vitest'
import { test } from '../../../../test/support/database.ts'
import { KeyRing } from './key-ring.ts'
import { generateMasterKey } from './master-key.ts'
import { findSecret, resealSecret } from './secret-store.ts'

const [first, second] = [generateMasterKey(), generateMasterKey()]
const [old, both, fresh] = [KeyRing.fromText(first), KeyRing.fromText(`${second},${first}`), KeyRing.fromText(second)]

test('[O-10] a secret is put, opened, changed, listed and removed', async ({ engines }) => {
  const { secrets } = engines({ secrets: old })
  await secrets.put('github.token', 'ghp_one')
  await secrets.put('b', '')
  expect((await secrets.open('github.token')).reveal()).toBe('ghp_one')
  expect((await secrets.open('b')).reveal()).toBe('')
  await secrets.put('github.token', 'ghp_two')
  expect((await secrets.open('github.token')).reveal()).toBe('ghp_two')
  const rows = await secrets.list()
  expect(rows).toEqual([
    { name: 'b', keyId: old.current, createdAt: expect.any(Date), updatedAt: expect.any(Date) },
    { name: 'github.token', keyId: old.current, createdAt: expect.any(Date), updatedAt: expect.any(Date) },
  ])
  expect(rows[1]?.updatedAt.getTime()).toBeGreaterThanOrEqual(rows[1]?.createdAt.getTime() ?? 0)
  expect(await secrets.list({ after: 'b', limit: 1 })).toMatchObject([{ name: 'github.token' }])
  expect([await secrets.remove('b'), await secrets.remove('b')]).toEqual([true, false])
  await expect(secrets.open('b')).rejects.toThrow('There is no secret "b". Put it first, or correct the name.')
})

test('[O-10] a secret that was meant to join a transaction and would not is refused', async ({ engines }) => {
  const { secrets } = engines({ secrets: old })
  const pool = { query: () => {}, totalCount: 0, idleCount: 0 }
  await expect(secrets.put('a', 'b', { client: pool as never })).rejects.toThrow(/client: is a pool, which has no transaction/)
  await expect(secrets.put('a', 'b', { cleint: pool } as never)).rejects.toThrow(/secrets.put: has no "cleint"; it takes client/)
  expect(await secrets.list()).toEqual([])
})

test('[O-10] the value of a secret is in no row, in no form', async ({ engines, client }) => {
  const { secrets } = engines({ secrets: old })
  const value = 'correct horse battery staple'
  await secrets.put('a', value)
  const { rows } = await client.query('select s::text as row from sluice.secret s')
  const shown = [
    rows[0].row,
    inspect(await secrets.list()),
    inspect(await secrets.open('a')),
    JSON.stringify(await secrets.open('a')),
  ]
  const plain = Buffer.from(value)
  for (const form of [value, plain.toString('hex'), plain.toString('base64').slice(0, -4), encodeURIComponent(value)])
    expect(shown.join('\n')).not.toContain(form)
})

test('[O-10] a sealed value that was moved to another row does not open', async ({ engines, client }) => {
  const { secrets } = engines({ secrets: old })
  await secrets.put('mine', 'one')
  await secrets.put('theirs', 'two')
  await client.query(
    `update sluice.secret set sealed = (select sealed from sluice.secret where name = 'theirs') where name = 'mine'`,
  )
  await expect(secrets.open('mine')).rejects.toMatchObject({
    code: 'SECRET_UNREADABLE',
    message: expect.stringContaining('Put it again'),
  })
  expect((await secrets.open('theirs')).reveal()).toBe('two')
})

test('[O-10] an engine without master keys works, and says what secrets take', async ({ engines }) => {
  await engines({ secrets: old }).secrets.put('a', 'x')
  const { secrets } = engines()
  for (const act of [() => secrets.put('a', 'x'), () => secrets.open('a'), () => secrets.rotate()])
    await expect(act()).rejects.toMatchObject({ code: 'SECRETS_OFF', message: expect.stringContaining('SLUICE_MASTER_KEY') })
  expect(await secrets.list()).toMatchObject([{ name: 'a' }])
  expect(await secrets.remove('a')).toBe(true)
  expect(() => engines({ secrets: first as never })).toThrow('Option secrets: is no key ring')
})

test('[O-10] a process that lacks the key says which one', async ({ engines }) => {
  await engines({ secrets: old }).secrets.put('a', 'x')
  await expect(engines({ secrets: fresh }).secrets.open('a')).rejects.toMatchObject({
    code: 'MASTER_KEY_UNKNOWN',
    message: expect.stringContaining(old.current),
  })
})

test('[O-10] what is no name for a secret is refused', async ({ engines }) => {
  const { secrets } = engines({ secrets: old })
  for (const name of ['', 'x'.repeat(201), 'a\0b', 'a\nb', '\uD800', 42, undefined] as string[]) {
    await expect(secrets.put(name, 'x')).rejects.toThrow(/^Option name: /)
    await expect(secrets.open(name)).rejects.toMatchObject({ code: 'UNKNOWN_SECRET' })
    expect(await secrets.remove(name)).toBe(false)
  }
})

test('[O-10] a secret that is put in a transaction is there if it commits', async ({ engines }) => {
  const engine = engines({ secrets: old })
  const put = engine.transaction(async (tx) => {
    await engine.secrets.put('a', 'x', { client: tx })
    throw new Error('changed my mind')
  })
  await expect(put).rejects.toThrow('changed my mind')
  expect(await engine.secrets.list()).toEqual([])
  await engine.transaction((tx) => engine.secrets.put('a', 'x', { client: tx }))
  expect(await engine.secrets.list()).toHaveLength(1)
})

test('[O-10] rotation seals everything anew under the current key, after which the old one can go', async ({
  engines,
  client,
}) => {
  const before = engines({ secrets: old })
  const names = Array.from({ length: 230 }, (_, n) => `secret ${n}`)
  for (const name of names) await before.secrets.put(name, `value of ${name}`)
  const { rows } = await client.query('select name, updated_at from sluice.secret order by name')
  const { secrets } = engines({ secrets: both })
  await secrets.put('new', 'value of new')
  expect(await secrets.rotate()).toEqual({ keyId: fresh.current, resealed: 230, left: 0, unreadable: [] })
  expect(await secrets.rotate()).toEqual({ keyId: fresh.current, resealed: 0, left: 0, unreadable: [] })
  const after = engines({ secrets: fresh })
  for (const name of [...names, 'new']) expect((await after.secrets.open(name)).reveal()).toBe(`value of ${name}`)
  expect((await client.query(`select name, updated_at from sluice.secret where name <> 'new' order by name`)).rows).toEqual(rows)
})

test('[O-10] rotation goes on past what it cannot open, names it, and finishes when it is called again', async ({
  engines,
  client,
}) => {
  const stranger = KeyRing.fromText(generateMasterKey())
  await engines({ secrets: stranger }).secrets.put('a lost', 'x')
  const before = engines({ secrets: old })
  for (const name of ['b', 'c broken', 'd']) await before.secrets.put(name, name)
  await client.query(`update sluice.secret set sealed = overlay(sealed placing 'AAAA' from 40) where name = 'c broken'`)
  const { secrets } = engines({ secrets: both })
  expect(await secrets.rotate()).toEqual({
    keyId: fresh.current,
    resealed: 2,
    left: 2,
    unreadable: [
      { name: 'a lost', code: 'MASTER_KEY_UNKNOWN' },
      { name: 'c broken', code: 'SECRET_UNREADABLE' },
    ],
  })
  await secrets.put('c broken', 'mended')
  await secrets.remove('a lost')
  expect(await secrets.rotate()).toMatchObject({ resealed: 0, left: 0, unreadable: [] })
})

test('[O-10] a value that was put after rotation has read the old one stays', async ({ engines }) => {
  const engine = engines({ secrets: old })
  await engine.secrets.put('a', 'before')
  const read = (await findSecret(engine, 'a')) ?? ''
  await engine.secrets.put('a', 'meanwhile')
  const resealed = both.seal('before', { purpose: 'engine.secret', name: 'a' })
  expect(await resealSecret(engine, 'a', read, resealed, both.current)).toBe(false)
  expect((await engine.secrets.open('a')).reveal()).toBe('meanwhile')
})

test('[O-10] two rotations and a put at the same time lose no value', async ({ engines }) => {
  const before = engines({ secrets: old })
  const names = Array.from({ length: 60 }, (_, n) => `secret ${n}`)
  for (const name of names) await before.secrets.put(name, 'before')
  const [one, other] = [engines({ secrets: both }), engines({ secrets: both })]
  const [a, b] = await Promise.all([
    one.secrets.rotate(),
    other.secrets.rotate(),
    ...names.slice(0, 30).map((name) => before.secrets.put(name, 'meanwhile')),
  ])
  expect(a.unreadable.concat(b.unreadable)).toEqual([])
  await one.secrets.rotate()
  const after = engines({ secrets: fresh })
  for (const [at, name] of names.entries())
    expect((await after.secrets.open(name)).reveal()).toBe(at < 30 ? 'meanwhile' : 'before')
})
