/** This machine and others. */
import { expect, test } from 'vitest'
import { ask } from '../../../../test/support/access-scene.ts'
import { checkBinding, isLoopback, judgeForwarding, judgeHost } from './address.ts'

test.for(['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::FFFF:127.0.0.1'])(
  '[O-09] %s is this machine',
  (address) => {
    expect(isLoopback(address)).toBe(true)
  },
)

test.for([
  undefined,
  '',
  '0.0.0.0',
  '::',
  '10.0.0.1',
  '128.0.0.1',
  '127.0.0.1.example.com',
  '::ffff:10.0.0.1',
  'fe80::1',
  'localhost',
])('[O-09] the address %s is not this machine', (address) => {
  expect(isLoopback(address)).toBe(false)
})

test.for(['127.0.0.1', 'localhost', '::1', '127.0.0.2'])('[O-09] a server without keys may listen on %s', (host) => {
  expect(() => checkBinding(host, { requireKeys: false })).not.toThrow()
})

test.for(['0.0.0.0', '::', '', '10.1.2.3', 'example.com', 'localhost.example.com'])(
  '[O-09] a server without keys that would listen on "%s" is refused at start, and told what to do',
  (host) => {
    expect(() => checkBinding(host, { requireKeys: false })).toThrow(/^Option host: .*require keys, or listen on 127\.0\.0\.1\.$/)
    expect(() => checkBinding(host, { requireKeys: true })).not.toThrow()
  },
)

test.for(['localhost', 'LOCALHOST:7070', '127.0.0.1:7070', '127.0.0.1', '[::1]:7070', '[::1]', '127.1'])(
  '[O-09] the host %s names this machine',
  (host) => {
    expect(judgeHost(ask({ host }))).toBeUndefined()
  },
)

test.for<string | undefined | string[]>([
  undefined,
  '',
  'evil.example:7070',
  'localhost.evil.example',
  'evil.example@localhost',
  'localhost/@evil.example',
  'evil.example#localhost',
  '127.0.0.1.evil.example',
  '10.0.0.1:7070',
  '[::ffff:10.0.0.1]',
  'localhost:99999',
  'localhost evil.example',
  ['localhost', 'evil.example'],
])('[O-09] the host %j does not', (host) => {
  expect(judgeHost(ask({ host }))).toMatchObject({ status: 403, code: 'HOST_NOT_LOCAL' })
})

test.for(['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'])('[O-09] %s gives a proxy away', (name) => {
  expect(judgeForwarding(ask({ [name]: '127.0.0.1' }))).toMatchObject({ status: 403, code: 'FORWARDED' })
  expect(judgeForwarding(ask())).toBeUndefined()
})
