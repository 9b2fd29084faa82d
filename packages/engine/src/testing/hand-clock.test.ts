/** The clock that stands still until a test turns it. */
import { expect, test } from 'vitest'
import { pause } from '../support/clock.ts'
import { HandClock } from './hand-clock.ts'

test('[E-28] time stands still until it is turned, and the date and the monotonic clock go together', () => {
  const clock = new HandClock(new Date('2030-01-01T00:00:00Z'))
  expect(clock.now()).toBe(Date.UTC(2030, 0, 1))
  clock.turn(1_500)
  expect(clock.now()).toBe(Date.UTC(2030, 0, 1) + 1_500)
  expect(clock.monotonic()).toBe(1_500)
})

test('[E-28] timers fire in the order of their times, each at its own time, those of one moment as they were set', () => {
  const clock = new HandClock()
  const fired: string[] = []
  const note = (name: string) => () => void fired.push(`${name}@${clock.monotonic()}`)
  clock.after(20, note('c'))
  clock.after(10, note('a'))
  clock.after(10, note('b'))
  clock.after(21, note('never'))
  clock.turn(20)
  expect(fired).toEqual(['a@10', 'b@10', 'c@20'])
  expect(clock.monotonic()).toBe(20)
})

test('[E-28] a timer that sets another within the same turn is followed', () => {
  const clock = new HandClock()
  const fired: number[] = []
  const tick = (): void => {
    fired.push(clock.monotonic())
    clock.after(10, tick)
  }
  clock.after(10, tick)
  clock.turn(35)
  expect(fired).toEqual([10, 20, 30])
})

test('[E-28] a timer that was called off does not fire, and one without delay waits for the next turn', () => {
  const clock = new HandClock()
  const fired: string[] = []
  clock.after(5, () => fired.push('canceled')).cancel()
  clock.after(-5, () => fired.push('at once'))
  expect(fired).toEqual([])
  clock.turn(0)
  expect(fired).toEqual(['at once'])
  clock.turn(1_000)
  expect(fired).toEqual(['at once'])
})

test('[E-28] waits of the engine follow the clock', async () => {
  const clock = new HandClock()
  const waited = pause(clock, 3_600_000)
  clock.turn(3_600_000)
  await waited
})
