/** What wrong keys lead to: an entry each, and then a wait. */
import { HandClock } from '@sluice/engine/testing'
import { expect } from 'vitest'
import { ask, bearer, test } from '../../../../test/support/access-scene.ts'

test('[O-09] wrong keys from one address are refused unread after a while, at the API as at the sign-in', async ({ access }) => {
  const clock = new HandClock()
  const door = access({ clock })
  const { text } = await door.keys.create({ name: 'ann', role: 'read' })
  for (let n = 0; n < 5; n++) {
    expect(await door.authenticate(ask(bearer(`wrong${n}`), '203.0.113.7'))).toMatchObject({ status: 401, code: 'KEY_INVALID' })
    expect(await door.signIn(`wrong${n}`, ask({}, '203.0.113.7'))).toMatchObject({ status: 401, code: 'KEY_INVALID' })
  }
  const waits = { status: 429, code: 'TOO_MANY_FAILURES', retryAfterSeconds: 300 }
  expect(await door.authenticate(ask(bearer('wrong'), '203.0.113.7'))).toMatchObject(waits)
  expect(await door.signIn(text.reveal(), ask({}, '203.0.113.7'))).toMatchObject(waits)
  expect(await door.authenticate(ask(bearer(text.reveal()), '203.0.113.8'))).toMatchObject({ kind: 'key' })
  clock.turn(300_000)
  expect(await door.signIn(text.reveal(), ask({}, '203.0.113.7'))).toMatchObject({ caller: { kind: 'session' } })
})

test('[O-09] who was right a moment ago, and who has a session, is not held up by a neighbour who is wrong', async ({
  access,
}) => {
  const door = access()
  const [ann, bob] = [
    await door.keys.create({ name: 'ann', role: 'read' }),
    await door.keys.create({ name: 'bob', role: 'read' }),
  ]
  const signedIn = await door.signIn(bob.text.reveal(), ask())
  const cookie = 'cookie' in signedIn ? signedIn.cookie : ''
  await door.authenticate(ask(bearer(ann.text.reveal())))
  for (let n = 0; n < 12; n++) await door.authenticate(ask(bearer(`wrong${n}`)))
  expect(await door.authenticate(ask(bearer('wrong')))).toMatchObject({ status: 429 })
  expect(await door.authenticate(ask(bearer(ann.text.reveal())))).toMatchObject({ kind: 'key', name: 'ann' })
  expect(await door.authenticate(ask({ cookie }))).toMatchObject({ kind: 'session', name: 'bob' })
  await door.keys.revoke(ann.id)
  expect(await door.authenticate(ask(bearer(ann.text.reveal())))).toMatchObject({ code: 'KEY_REVOKED' })
  expect(await door.authenticate(ask(bearer(ann.text.reveal())))).toMatchObject({ status: 429 })
})

test('[O-09] each wrong key is recorded with its id, until the limit is reached, and never with its secret', async ({
  access,
  client,
}) => {
  const door = access()
  const { id, text } = await door.keys.create({ name: 'lost', role: 'admin' })
  await door.keys.revoke(id)
  await door.authenticate(ask(bearer(text.reveal()), '203.0.113.7'))
  await door.signIn(`sluice_${id}_${'x'.repeat(43)}`, ask({}, '203.0.113.7'))
  for (let n = 0; n < 20; n++) await door.authenticate(ask(bearer('guess'), '203.0.113.7'))
  const { items } = await door.audit.list()
  const wrong = { callerKind: 'none', callerId: null, address: '203.0.113.7', outcome: 'refused' }
  expect(items).toHaveLength(10)
  expect(items[0]).toMatchObject({
    ...wrong,
    action: 'key.check',
    target: null,
    detail: { code: 'KEY_INVALID', limitReached: true },
  })
  expect(items.slice(-2)).toMatchObject([
    { ...wrong, action: 'session.start', target: id, detail: { code: 'KEY_INVALID', limitReached: false } },
    { ...wrong, action: 'key.check', target: id, detail: { code: 'KEY_REVOKED', limitReached: false } },
  ])
  const { rows } = await client.query('select string_agg(a::text, chr(10)) as everything from sluice.audit a')
  expect(rows[0].everything).not.toContain(text.reveal().slice(-43))
})

test('[O-09] no key at all is no attempt: it is neither counted nor recorded', async ({ access }) => {
  const door = access()
  for (let n = 0; n < 30; n++) expect(await door.authenticate(ask())).toMatchObject({ status: 401, code: 'KEY_REQUIRED' })
  expect((await door.audit.list()).items).toEqual([])
})
