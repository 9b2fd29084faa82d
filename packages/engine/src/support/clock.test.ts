/** The system clock's waits: longer than Node can count, called off, and cut short by a signal. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HandClock } from '../testing/hand-clock.ts'
import { pause, systemClock } from './clock.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.restoreAllMocks() // first: what a spy on a timer gives back is the timer that it found, a false one
  vi.useRealTimers()
})

const longestLegMs = 2 ** 31 - 1

test('a wait past 2³¹ ms ends at its time and not at once', () => {
  const act = vi.fn()
  const setTimer = vi.spyOn(globalThis, 'setTimeout')
  systemClock.after(3 * longestLegMs, act)
  vi.advanceTimersByTime(longestLegMs)
  vi.advanceTimersByTime(longestLegMs)
  vi.advanceTimersByTime(longestLegMs - 1)
  expect(act).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(act).toHaveBeenCalledOnce()
  for (const [, ms] of setTimer.mock.calls) expect(ms).toBeLessThanOrEqual(longestLegMs)
})

test('a wait of exactly 2³¹ − 1 ms is one leg', () => {
  const act = vi.fn()
  systemClock.after(longestLegMs, act)
  vi.advanceTimersByTime(longestLegMs)
  expect(act).toHaveBeenCalledOnce()
})

test('a wait that is called off never ends, in its first leg or a later one', () => {
  const act = vi.fn()
  systemClock.after(10, act).cancel()
  const long = systemClock.after(2 * longestLegMs, act)
  vi.advanceTimersByTime(longestLegMs + 1)
  long.cancel()
  vi.advanceTimersByTime(2 * longestLegMs)
  expect(act).not.toHaveBeenCalled()
})

test('a negative wait ends at once', () => {
  const act = vi.fn()
  systemClock.after(-5, act)
  vi.advanceTimersByTime(0)
  expect(act).toHaveBeenCalledOnce()
})

test('the monotonic clock does not follow the date', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const before = systemClock.monotonic()
  vi.setSystemTime('2000-01-01T00:00:00Z')
  expect(systemClock.now()).toBe(Date.UTC(2000, 0, 1))
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before)
})

test('a pause ends at its time', async () => {
  const clock = new HandClock()
  const ended = vi.fn()
  const paused = pause(clock, 1_000).then(ended)
  clock.turn(999)
  await Promise.resolve()
  expect(ended).not.toHaveBeenCalled()
  clock.turn(1)
  await paused
})

test('a pause ends when its signal is aborted, and leaves neither timer nor listener behind', async () => {
  const stop = new AbortController()
  const remove = vi.spyOn(stop.signal, 'removeEventListener')
  const paused = pause(systemClock, 3_600_000, stop.signal)
  expect(vi.getTimerCount()).toBe(1)
  stop.abort()
  await paused
  expect(vi.getTimerCount()).toBe(0)
  expect(remove).toHaveBeenCalledOnce()
})

test('a pause with a signal that is aborted already sets no timer', async () => {
  await pause(systemClock, 3_600_000, AbortSignal.abort())
  expect(vi.getTimerCount()).toBe(0)
})
