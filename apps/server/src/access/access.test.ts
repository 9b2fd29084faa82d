/** Who a request comes from. */
import { expect } from 'vitest'
import { ask, bearer, test } from '../../../../test/support/access-scene.ts'

test('[O-09] a key says who asks, from wherever', async ({ access }) => {
  const door = access()
  const { id, text } = await door.keys.create({ name: 'deploy', role: 'operate' })
  const caller = { kind: 'key', role: 'operate', id, name: 'deploy' }
  for (const address of ['127.0.0.1', '203.0.113.7', null])
    expect(await door.authenticate(ask(bearer(text.reveal()), address))).toEqual(caller)
  expect(await door.authenticate(ask({ authorization: `bearer  ${text.reveal()} ` }))).toEqual(caller)
})

test('[O-09] on this machine no key is needed unless keys are required', async ({ access }) => {
  const open = access({ requireKeys: false })
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
    expect(await open.authenticate(ask({}, address))).toEqual({ kind: 'local', role: 'admin', id: 'local', name: 'this machine' })
  expect(await access({ requireKeys: true }).authenticate(ask())).toMatchObject({ status: 401, code: 'KEY_REQUIRED' })
})

test('[O-09] any other address is refused without a key, whatever its headers claim', async ({ access }) => {
  const claims = { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1', forwarded: 'for=127.0.0.1' }
  for (const address of [null, '', '10.0.0.7', '203.0.113.7', 'fe80::1', '::ffff:10.0.0.7'])
    for (const requireKeys of [true, false])
      for (const headers of [{}, claims]) {
        const answer = await access({ requireKeys }).authenticate(ask(headers, address))
        expect(answer).toMatchObject({ status: 401, code: 'KEY_REQUIRED' })
      }
})

test('[O-09] a page whose name was made to point at this machine is refused', async ({ access }) => {
  const door = access({ requireKeys: false })
  expect(await door.authenticate(ask({ host: 'evil.example:7070' }))).toMatchObject({ status: 403, code: 'HOST_NOT_LOCAL' })
  expect(await door.authenticate(ask({ host: undefined }))).toMatchObject({ status: 403, code: 'HOST_NOT_LOCAL' })
})

test('[O-09] with keys required a server may have any name', async ({ access }) => {
  const door = access()
  const { text } = await door.keys.create({ name: 'deploy', role: 'read' })
  expect(await door.authenticate(ask({ host: 'sluice.example', ...bearer(text.reveal()) }))).toMatchObject({ kind: 'key' })
})

test('[O-09] a proxy on this machine does not make strangers local', async ({ access }) => {
  const door = access({ requireKeys: false })
  const forwarded = { 'x-forwarded-for': '203.0.113.7' }
  expect(await door.authenticate(ask(forwarded))).toMatchObject({ status: 403, code: 'FORWARDED' })
  const { text } = await door.keys.create({ name: 'behind a proxy', role: 'read' })
  expect(await door.authenticate(ask({ ...forwarded, ...bearer(text.reveal()) }))).toMatchObject({ kind: 'key' })
})

test('[O-09] a wrong key is refused, also where none is needed', async ({ access }) => {
  const door = access({ requireKeys: false })
  const { text } = await door.keys.create({ name: 'mine', role: 'read' })
  const wrong = [`Bearer ${text.reveal()}x`, 'Bearer', 'Bearer ', '', `Basic ${text.reveal()}`, text.reveal(), `Bearer a b`]
  for (const authorization of wrong)
    expect(await door.authenticate(ask({ authorization }))).toMatchObject({ status: 401, code: 'KEY_INVALID' })
})

test('[O-09] a revoked key is out at once in every process', async ({ access }) => {
  const [one, other] = [access(), access()]
  const { id, text } = await one.keys.create({ name: 'lost', role: 'admin' })
  expect(await other.authenticate(ask(bearer(text.reveal())))).toMatchObject({ kind: 'key' })
  await one.keys.revoke(id)
  for (const door of [one, other])
    expect(await door.authenticate(ask(bearer(text.reveal())))).toMatchObject({ status: 401, code: 'KEY_REVOKED' })
})

test('[O-09] roles include one another, upwards', ({ access }) => {
  const door = access()
  const may = (role: 'read' | 'operate' | 'admin') =>
    (['read', 'operate', 'admin'] as const).filter((needed) => door.allows({ kind: 'key', role, id: 'x', name: 'x' }, needed))
  expect([may('read'), may('operate'), may('admin')]).toEqual([['read'], ['read', 'operate'], ['read', 'operate', 'admin']])
})
