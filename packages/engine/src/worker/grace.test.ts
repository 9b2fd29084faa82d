/** The time that running jobs have when their process leaves, with a clock turned by hand. */
import { expect, test, vi } from 'vitest'
import { HandClock } from '../testing/hand-clock.ts'
import { Grace } from './grace.ts'

test('[E-23] whoever asks again shortens it, and never lengthens it', async () => {
  const [clock, grace] = [new HandClock(), new Grace()]
  let isOver = false
  void grace.over.then(() => (isOver = true))
  for (const ms of [30_000, 5_000, 20_000]) grace.shorten(ms, clock)
  clock.turn(4_999)
  await Promise.resolve()
  expect(isOver).toBe(false)
  clock.turn(1)
  await grace.over
})

test('[E-23] asked when all have ended it keeps no process alive', () => {
  const [clock, grace] = [new HandClock(), new Grace()]
  grace.shorten(30_000, clock)
  grace.cancel()
  const timers = vi.spyOn(clock, 'after')
  grace.shorten(4_000, clock)
  expect(timers).not.toHaveBeenCalled()
})
