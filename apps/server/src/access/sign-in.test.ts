/** Signing in and out, and how sessions end. */
import { inspect } from 'node:util'
import { expect } from 'vitest'
import { ask, bearer, test } from '../../../../test/support/access-scene.ts'
import type { Access } from './access.ts'
import { isRefusal } from './refusal.ts'

async function signIn(door: Access, key: string): Promise<{ cookie: string }> {
  const answer = await door.signIn(key, ask())
  if (isRefusal(answer)) throw new Error(answer.code)
  return { cookie: answer.cookie.split(';')[0] ?? '' }
}

test('[O-09] a key opens a session, which may do what the key may', async ({ access }) => {
  const [door, other] = [access(), access()]
  const { id, text } = await door.keys.create({ name: 'ann', role: 'operate' })
  const answer = await door.signIn(text.reveal(), ask())
  expect(answer).toEqual({
    caller: { kind: 'session', role: 'operate', id, name: 'ann' },
    cookie: expect.stringMatching(/^sluice=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/),
  })
  const cookie = await signIn(door, text.reveal())
  for (const process of [door, other])
    expect(await process.authenticate(ask(cookie, '203.0.113.7'))).toEqual({ kind: 'session', role: 'operate', id, name: 'ann' })
})

test('[O-09] with https the cookie is marked Secure, and one from a plain connection counts for nothing', async ({ access }) => {
  const door = access({ tls: true })
  const { text } = await door.keys.create({ name: 'ann', role: 'read' })
  const { cookie } = await signIn(door, text.reveal())
  expect(cookie).toMatch(/^__Host-sluice=/)
  expect(await door.authenticate(ask({ cookie }))).toMatchObject({ kind: 'session' })
  expect(await door.authenticate(ask({ cookie: cookie.replace('__Host-', '') }))).toMatchObject({ code: 'KEY_REQUIRED' })
})

test('[O-09] signing out ends the session in every process and takes the cookie away', async ({ access }) => {
  const [door, other] = [access(), access()]
  const { text } = await door.keys.create({ name: 'ann', role: 'read' })
  const [mine, theirs] = [await signIn(door, text.reveal()), await signIn(door, text.reveal())]
  expect(await other.signOut(ask(mine))).toEqual({ ended: true, cookie: expect.stringContaining('sluice=; Path=/; Max-Age=0;') })
  expect(await door.authenticate(ask(mine))).toMatchObject({ status: 401, code: 'SESSION_ENDED' })
  expect(await door.authenticate(ask(theirs))).toMatchObject({ kind: 'session' })
  expect(await door.signOut(ask(mine))).toMatchObject({ ended: false })
  expect(await door.signOut(ask())).toMatchObject({ ended: false })
})

test('[O-09] revoking a key ends its sessions, and no others', async ({ access, client }) => {
  const door = access()
  const lost = await door.keys.create({ name: 'lost', role: 'admin' })
  const kept = await door.keys.create({ name: 'kept', role: 'admin' })
  const [out, stays] = [await signIn(door, lost.text.reveal()), await signIn(door, kept.text.reveal())]
  await access().keys.revoke(lost.id)
  expect(await door.authenticate(ask(out))).toMatchObject({ status: 401, code: 'SESSION_ENDED' })
  expect(await door.authenticate(ask(stays))).toMatchObject({ kind: 'session', name: 'kept' })
  expect((await client.query('select key from sluice.session')).rows).toEqual([{ key: kept.id }])
})

test('[O-09] a session whose key was revoked or has expired is over, even if its row is still there', async ({
  access,
  client,
}) => {
  const door = access()
  const { text } = await door.keys.create({ name: 'ann', role: 'read' })
  const cookie = await signIn(door, text.reveal())
  for (const end of ['revoked_at = sluice.now()', `revoked_at = null, expires_at = sluice.now()`]) {
    await client.query(`update sluice.api_key set ${end}`)
    expect(await door.authenticate(ask(cookie))).toMatchObject({ code: 'SESSION_ENDED' })
  }
  await client.query('update sluice.api_key set expires_at = null')
  expect(await door.authenticate(ask(cookie))).toMatchObject({ kind: 'session' })
})

test('[O-09] a session ends after its time, after idling, and with its key', async ({ access, client }) => {
  const door = access({ sessionMinutesMax: 60, sessionIdleMinutesMax: 10 })
  const { text } = await door.keys.create({ name: 'ann', role: 'read', expiresAt: new Date(Date.now() + 60_000) })
  const cookie = await signIn(door, text.reveal())
  const { rows } = await client.query(
    'select s.expires_at = k.expires_at as capped from sluice.session s join sluice.api_key k on k.id = s.key',
  )
  expect(rows).toEqual([{ capped: true }])
  const after = async (change: string) => {
    await client.query(`update sluice.session set ${change}`)
    return door.authenticate(ask(cookie))
  }
  expect(await after(`seen_at = sluice.now() - interval '9 minutes'`)).toMatchObject({ kind: 'session' })
  expect(await after(`seen_at = sluice.now() - interval '10 minutes'`)).toMatchObject({ code: 'SESSION_ENDED' })
  expect(await after(`seen_at = sluice.now()`)).toMatchObject({ kind: 'session' })
  expect(await after(`expires_at = sluice.now()`)).toMatchObject({ code: 'SESSION_ENDED' })
})

test('[O-09] that a session was seen is written once a minute', async ({ access, client }) => {
  const door = access()
  const { text } = await door.keys.create({ name: 'ann', role: 'read' })
  const cookie = await signIn(door, text.reveal())
  const version = async () => (await client.query('select xmin::text from sluice.session')).rows[0].xmin
  const fresh = await version()
  await door.authenticate(ask(cookie))
  expect(await version()).toBe(fresh)
  await client.query(`update sluice.session set seen_at = sluice.now() - interval '61 seconds'`)
  const stale = await version()
  await Promise.all(Array.from({ length: 10 }, () => door.authenticate(ask(cookie))))
  const seen = await version()
  expect(seen).not.toBe(stale)
  await door.authenticate(ask(cookie))
  expect(await version()).toBe(seen)
})

test('[O-09] sessions that are over are swept away, and a key has a hundred at most', async ({ access, client }) => {
  const door = access()
  const { id, text } = await door.keys.create({ name: 'ann', role: 'read' })
  await client.query(
    `insert into sluice.session (token_hash, key, created_at, expires_at)
     select sha256(n::text::bytea), $1, sluice.now() - n * interval '1 second', sluice.now() + case when n > 120 then interval '-1 s' else interval '1 h' end
     from generate_series(1, 150) n`,
    [id],
  )
  const cookie = await signIn(door, text.reveal())
  const { rows } = await client.query(
    'select count(*)::int as all, bool_and(expires_at > sluice.now()) as live from sluice.session',
  )
  expect(rows).toEqual([{ all: 100, live: true }])
  expect(await door.authenticate(ask(cookie))).toMatchObject({ kind: 'session' })
})

test('[O-09] a stranger’s cookie is nothing; on this machine without keys it does not matter', async ({ access }) => {
  const [strict, open] = [access(), access({ requireKeys: false })]
  for (const token of ['x', 'a'.repeat(43), "' or true --", 'a'.repeat(5_000)]) {
    expect(await strict.authenticate(ask({ cookie: `sluice=${token}` }))).toMatchObject({ status: 401, code: 'SESSION_ENDED' })
    expect(await open.authenticate(ask({ cookie: `sluice=${token}` }))).toMatchObject({ kind: 'local' })
  }
  expect(await strict.authenticate(ask({ cookie: 'sluice=' }))).toMatchObject({ code: 'KEY_REQUIRED' })
})

test('[O-09] a key goes before a cookie', async ({ access }) => {
  const door = access()
  const { text } = await door.keys.create({ name: 'ann', role: 'admin' })
  const low = await door.keys.create({ name: 'low', role: 'read' })
  const cookie = await signIn(door, text.reveal())
  expect(await door.authenticate(ask({ ...cookie, ...bearer(low.text.reveal()) }))).toMatchObject({ kind: 'key', name: 'low' })
  expect(await door.authenticate(ask({ ...cookie, ...bearer('wrong') }))).toMatchObject({ code: 'KEY_INVALID' })
})

test('[O-09] the token of a session is stored nowhere', async ({ access, client }) => {
  const door = access()
  const { text } = await door.keys.create({ name: 'ann', role: 'read' })
  const { cookie } = await signIn(door, text.reveal())
  const token = cookie.split('=')[1] ?? ''
  const { rows } = await client.query('select s::text as row from sluice.session s union all select a::text from sluice.audit a')
  for (const form of [token, Buffer.from(token).toString('hex'), text.reveal(), text.reveal().slice(-43)])
    expect(inspect(rows, { maxStringLength: null })).not.toContain(form)
})
