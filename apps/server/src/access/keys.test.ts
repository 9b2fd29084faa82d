/** API keys on a database. */
import { inspect } from 'node:util'
import { expect } from 'vitest'
import { test } from '../../../../test/support/access-scene.ts'
import { serverWaits, withOnlooker } from '../../../../test/support/onlooker.ts'
import { readKey } from './key-text.ts'
import { Keys } from './keys.ts'

test('[O-09] a key is made, checked, listed and revoked', async ({ engine }) => {
  const keys = new Keys(engine)
  const made = await keys.create({ name: ' deploy ', role: 'operate' })
  expect(made).toMatchObject({
    name: 'deploy',
    role: 'operate',
    state: 'active',
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
  })
  expect(readKey(made.text.reveal())?.id).toBe(made.id)
  const { text: _, ...shown } = made
  expect(await keys.list()).toEqual({ items: [shown], next: undefined })
  expect(await keys.check(made.text.reveal())).toMatchObject({ ok: true, key: { id: made.id, role: 'operate' } })
  expect(await keys.revoke(made.id)).toBe(true)
  expect(await keys.revoke(made.id)).toBe(false)
  expect(await keys.revoke("x' or true --")).toBe(false)
  expect(await keys.check(made.text.reveal())).toEqual({ ok: false, code: 'KEY_REVOKED', id: made.id })
  expect(await keys.list()).toMatchObject({ items: [{ id: made.id, state: 'revoked', revokedAt: expect.any(Date) }] })
})

test('[O-09] the secret of a key is stored nowhere, and not shown by accident', async ({ engine, client }) => {
  const keys = new Keys(engine)
  const made = await keys.create({ name: 'deploy', role: 'admin' })
  const { secret = '' } = readKey(made.text.reveal()) ?? {}
  const { rows } = await client.query('select k::text as row, secret_hash from sluice.api_key k')
  const [hex, base64] = [Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')]
  const everything = [rows[0].row, inspect(made, { depth: null }), JSON.stringify(made), inspect(await keys.list())].join('\n')
  for (const form of [secret, hex, base64]) expect(everything).not.toContain(form)
  expect(rows[0].secret_hash).toHaveLength(32)
})

test('[O-09] a wrong secret, an unknown id and what is no key are the same to a stranger', async ({ engine }) => {
  const keys = new Keys(engine)
  const one = await keys.create({ name: 'one', role: 'read' })
  const other = await keys.create({ name: 'other', role: 'read' })
  const crossed = `sluice_${one.id}_${readKey(other.text.reveal())?.secret}`
  const unknown = one.text.reveal().replace(one.id, 'aaaaaaaaaa')
  for (const text of [crossed, unknown, 'sluice_x_y', '', one.text.reveal().slice(0, -1)])
    expect(await keys.check(text)).toMatchObject({ ok: false, code: 'KEY_INVALID' })
})

test('[O-09] a key expires at its time; only whoever has the secret is told', async ({ engine, client }) => {
  const keys = new Keys(engine)
  const { id, text } = await keys.create({ name: 'short', role: 'read', expiresAt: new Date(Date.now() + 3_600_000) })
  expect(await keys.check(text.reveal())).toMatchObject({ ok: true })
  await client.query('update sluice.api_key set expires_at = sluice.now()')
  expect(await keys.check(text.reveal())).toEqual({ ok: false, code: 'KEY_EXPIRED', id })
  expect(await keys.check(`sluice_${id}_${'x'.repeat(43)}`)).toEqual({ ok: false, code: 'KEY_INVALID', id })
  expect(await keys.list()).toMatchObject({ items: [{ id, state: 'expired' }] })
})

const refused: [given: object, message: RegExp][] = [
  [{ name: '', role: 'read' }, /^Option name: must say what the key is for\.$/],
  [{ name: 'x'.repeat(201), role: 'read' }, /^Option name: /],
  [{ name: 'a\0b', role: 'read' }, /^Option name: must be plain text/],
  [{ name: 'a\nb', role: 'read' }, /^Option name: must be plain text/],
  [{ name: 'x', role: 'root' }, /^Option role: must be one of read, operate, admin\.$/],
  [{ name: 'x', role: 'read', expiresAt: new Date(0) }, /^Option expiresAt: lies in the past\.$/],
  [{ name: 'x', role: 'read', expiresAt: new Date(Number.NaN) }, /^Option expiresAt: must be a date\.$/],
  [{ name: 'x', role: 'read', scope: 'x' }, /^Option key: /],
]

test('[O-09] a key that cannot be made is refused, and the field is named', async ({ engine }) => {
  for (const [given, message] of refused) await expect(new Keys(engine).create(given as never)).rejects.toThrow(message)
})

test('[O-09] when a key was last used is written once a minute, however often it is used', async ({ engine, client }) => {
  const keys = new Keys(engine)
  const { text } = await keys.create({ name: 'busy', role: 'read' })
  const version = async () => (await client.query('select xmin::text, last_used_at from sluice.api_key')).rows[0]
  const before = await version()
  await Promise.all(Array.from({ length: 20 }, () => keys.check(text.reveal())))
  const used = await version()
  expect(used.xmin).not.toBe(before.xmin)
  expect(used.last_used_at).toBeInstanceOf(Date)
  await keys.check(text.reveal())
  expect(await version()).toEqual(used)
  await client.query(`update sluice.api_key set last_used_at = sluice.now() - interval '61 seconds'`)
  await keys.check(text.reveal())
  const again = await version()
  expect(again.last_used_at.getTime()).toBeGreaterThanOrEqual(used.last_used_at.getTime())
})

test('[O-09] use does not wait for a key that somebody else is writing to', async ({ engine, client }) => {
  const keys = new Keys(engine)
  const { text } = await keys.create({ name: 'held', role: 'read' })
  await client.query('begin')
  await client.query('update sluice.api_key set name = name')
  expect(await keys.check(text.reveal())).toMatchObject({ ok: true })
  await client.query('rollback')
})

test('[O-09] the first admin key is made once, also when several processes start at once', async ({ engine, client }) => {
  const made = await Promise.all(Array.from({ length: 8 }, () => new Keys(engine).firstAdminKey()))
  const [first, ...others] = made.filter((one) => one !== undefined)
  expect(others).toEqual([])
  expect(first).toMatchObject({ role: 'admin', state: 'active' })
  expect(await new Keys(engine).check(first?.text.reveal() ?? '')).toMatchObject({ ok: true })
  await new Keys(engine).revoke(first?.id ?? '')
  expect(await new Keys(engine).firstAdminKey()).toBeUndefined()
  expect((await client.query('select from sluice.api_key')).rowCount).toBe(1)
})

test('[O-09] two transactions that make the first key at the same moment make one', async ({ engine, client, database }) => {
  await client.query('begin')
  await client.query(
    `insert into sluice.api_key (id, name, role, secret_hash, first) values ('aaaaaaaaaa', 'first admin', 'admin', sha256('x'), true)`,
  )
  const second = new Keys(engine).firstAdminKey()
  await withOnlooker(database.url, (onlooker) => serverWaits(onlooker, 'sluice.api_key'))
  await client.query('commit')
  expect(await second).toBeUndefined()
})

test('[O-09] where there is a key already, no first one is made', async ({ engine }) => {
  const keys = new Keys(engine)
  await keys.create({ name: 'mine', role: 'read' })
  expect(await keys.firstAdminKey()).toBeUndefined()
})

test('[O-09] keys come in pages, newest first', async ({ engine }) => {
  const keys = new Keys(engine)
  for (const name of ['a', 'b', 'c', 'd', 'e']) await keys.create({ name, role: 'read' })
  const names: string[] = []
  let cursor: string | undefined
  do {
    const page = await keys.list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) })
    names.push(page.items.map(({ name }) => name).join(''))
    cursor = page.next
  } while (cursor !== undefined)
  expect(names).toEqual(['ed', 'cb', 'a'])
  await expect(keys.list({ limit: 0 })).rejects.toThrow(/^Option limit: /)
  await expect(keys.list({ limit: 501 })).rejects.toThrow(/^Option limit: /)
  for (const wrong of ['', 'x', '-1', '1e3', '0', '9'.repeat(16), "1' or true"])
    await expect(keys.list({ cursor: wrong })).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { field: 'cursor' } })
})
