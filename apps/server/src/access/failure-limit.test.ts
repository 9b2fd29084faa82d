/** The limit on wrong keys. */
import { HandClock } from '@sluice/engine/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FailureLimit, networkOf } from './failure-limit.ts'

const limits = { windowMs: 60_000, perAddressMax: 3, overallMax: 10, addressesMax: 4, trustedMax: 2 }
const scene = () => {
  const clock = new HandClock()
  return { clock, limit: new FailureLimit(clock, limits) }
}

test('[O-09] an address that was wrong too often waits until its window ends, and others do not', () => {
  const { clock, limit } = scene()
  expect([limit.failed('10.0.0.1', 'a'), limit.failed('10.0.0.1', 'b')]).toEqual([false, false])
  expect(limit.waitSeconds('10.0.0.1', 'c')).toBeUndefined()
  clock.turn(10_000)
  expect(limit.failed('10.0.0.1', 'c')).toBe(true)
  expect(limit.waitSeconds('10.0.0.1', 'd')).toBe(50)
  expect(limit.waitSeconds('10.0.0.2', 'd')).toBeUndefined()
  clock.turn(49_001)
  expect(limit.waitSeconds('10.0.0.1', 'd')).toBe(1)
  clock.turn(999)
  expect(limit.waitSeconds('10.0.0.1', 'd')).toBeUndefined()
  expect(limit.failed('10.0.0.1', 'd')).toBe(false)
})

test('[O-09] too many wrong keys from everywhere stop all that are not known', () => {
  const { clock, limit } = scene()
  for (let n = 1; n < 10; n++) expect(limit.failed(`10.0.0.${n}`, 'x')).toBe(false)
  expect(limit.failed('10.0.0.10', 'x')).toBe(true)
  expect(limit.waitSeconds('10.0.0.99', 'y')).toBe(60)
  clock.turn(60_000)
  expect(limit.waitSeconds('10.0.0.99', 'y')).toBeUndefined()
})

test('[O-09] a key that was right a moment ago goes on, however many others are wrong', () => {
  const { limit } = scene()
  limit.succeeded('right')
  for (let n = 0; n < 20; n++) limit.failed('10.0.0.1', 'wrong')
  expect(limit.waitSeconds('10.0.0.1', 'right')).toBeUndefined()
  expect(limit.waitSeconds('10.0.0.1', 'unseen')).toBe(60)
  limit.failed('10.0.0.1', 'right')
  expect(limit.waitSeconds('10.0.0.1', 'right')).toBe(60)
})

test('[O-09] what it remembers is bounded, the longest unused goes first', () => {
  const { limit } = scene()
  for (const proof of ['a', 'b', 'a', 'c']) limit.succeeded(proof)
  for (let n = 0; n < 3; n++) limit.failed('10.0.0.1', 'x')
  expect(['a', 'b', 'c'].map((proof) => limit.waitSeconds('10.0.0.1', proof))).toEqual([undefined, 60, undefined])
  for (let n = 2; n < 6; n++) limit.failed(`10.0.0.${n}`, 'x')
  expect(limit.waitSeconds('10.0.0.1', 'x')).toBeUndefined()
})

test('[O-09] the wait is never longer than the window, and ends', () => {
  const step = fc.oneof(
    fc.record({ fail: fc.constantFrom('10.0.0.1', '10.0.0.2', '2001:db8::1', undefined) }),
    fc.record({ turn: fc.integer({ min: 0, max: 90_000 }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { clock, limit } = scene()
      for (const one of steps) {
        if ('turn' in one) clock.turn(one.turn)
        else limit.failed(one.fail, 'x')
        const waits = limit.waitSeconds('10.0.0.1', 'y') ?? 0
        expect(waits).toBeLessThanOrEqual(60)
      }
      clock.turn(60_000)
      expect(limit.waitSeconds('10.0.0.1', 'y')).toBeUndefined()
    }),
  )
})

test.for<[string | undefined, string]>([
  [undefined, 'unknown'],
  ['10.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:DB8:1:2::9', '2001:db8:1:2'],
  ['2001:0db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['2001:db8:1:2:3:4:5::', '2001:db8:1:2'],
])('[O-09] %s counts as %s', ([address, network]) => {
  expect(networkOf(address)).toBe(network)
})
