/** Waiting for the end of a run: by a word about it, by a look now and then, and never past the end of the engine. */
import { expect, test } from 'vitest'
import { HandClock } from '../testing/hand-clock.ts'
import { RunWaiters } from './run-waiters.ts'

const word = (run: number): string =>
  JSON.stringify({ run, kind: 'k', owner: null, state: 'completed', succeeded: 1, failed: 0, canceled: 0, tookMs: 1 })

function waiting(hears: boolean) {
  const clock = new HandClock()
  const waiters = new RunWaiters({ clock, hears: () => hears })
  const seen = { looks: 0, ended: false }
  const look = async (): Promise<'over' | undefined> => {
    seen.looks++
    return seen.ended ? 'over' : undefined
  }
  return { clock, waiters, seen, look }
}

/** Everything that can go on without the clock has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('[E-15] whoever waits for a run looks at once and at a word about it, and at no word about another', async () => {
  const { waiters, seen, look } = waiting(true)
  const over = waiters.seen(7, look)
  await settled()
  expect(seen.looks).toBe(1)
  waiters.hear(word(8))
  await settled()
  expect(seen.looks).toBe(1)
  seen.ended = true
  waiters.hear(word(7))
  expect(await over).toBe('over')
  expect(seen.looks).toBe(2)
})

test('[E-15] a lost word about the end of a run is made up for: a look now and then, sooner where nothing is heard, and at each reconnect', async () => {
  for (const [hears, afterMs] of [
    [true, 10_000],
    [false, 1_000],
  ] as const) {
    const { clock, waiters, seen, look } = waiting(hears)
    const over = waiters.seen(7, look)
    await settled()
    clock.turn(afterMs - 1)
    await settled()
    expect(seen.looks).toBe(1)
    clock.turn(1)
    await settled()
    expect(seen.looks).toBe(2)
    waiters.lookAgain()
    await settled()
    expect(seen.looks).toBe(3)
    waiters.hear('in words of another version')
    await settled()
    expect(seen.looks).toBe(4)
    seen.ended = true
    clock.turn(afterMs)
    expect(await over).toBe('over')
  }
})

test('[E-15] a word that comes during the look is not missed', async () => {
  const { waiters, seen } = waiting(true)
  const over = waiters.seen(7, async () => {
    seen.looks++
    if (seen.looks > 1) return 'over'
    waiters.hear(word(7))
    await settled()
    return undefined
  })
  expect(await over).toBe('over')
})

test('[E-15] waiting for a run waiters with its signal and with the engine, and outlives a database that is away for a moment', async () => {
  const { clock, waiters, seen, look } = waiting(true)
  const reason = new Error('enough')
  const off = new AbortController()
  const given = waiters.seen(7, look, off.signal)
  await settled()
  off.abort(reason)
  await expect(given).rejects.toBe(reason)
  await expect(waiters.seen(7, look, off.signal)).rejects.toBe(reason)
  let away = true
  const patient = waiters.seen(7, async () => {
    if (away) throw Object.assign(new Error('the database system is shutting down'), { code: '57P03' })
    return look()
  })
  await settled()
  away = false
  seen.looks = 0
  clock.turn(10_000)
  await settled()
  expect(seen.looks).toBe(1)
  waiters.stop()
  await expect(patient).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  await expect(waiters.seen(7, look)).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  await expect(
    new RunWaiters({ clock, hears: () => true }).seen(7, async () => Promise.reject(new Error('a bug'))),
  ).rejects.toThrow('a bug')
})
