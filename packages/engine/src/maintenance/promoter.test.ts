/** The promoter sleeps until the next due time: with a database in memory and a clock turned by hand. */
import { expect, test } from 'vitest'
import type { Database } from '../postgres/database.ts'
import { silentLog } from '../support/log.ts'
import { HandClock } from '../testing/hand-clock.ts'
import { Promoter } from './promoter.ts'

/** Scheduled jobs by their due time, and a promoter on them. */
class Scene {
  readonly clock = new HandClock()
  readonly due: number[] = []
  readonly promoted: { atMs: number; count: number }[] = []
  readonly promoter: Promoter
  term: number | undefined = 1
  asked = 0
  fails = false
  /** Runs when a statement has looked and its answer is on the way. */
  during: () => void = () => {}

  constructor() {
    this.promoter = new Promoter({
      database: {
        send: async (_: unknown, __: unknown, [, batch]: [number, number]) => this.#send(batch),
      } as unknown as Database,
      clock: this.clock,
      log: silentLog,
      term: () => this.term,
      onReady: () => this.promoted.push({ atMs: this.clock.monotonic(), count: 1 }),
    })
  }

  async turn(ms: number): Promise<void> {
    this.clock.turn(ms)
    await settled()
  }

  async #send(batch: number): Promise<[number, string[] | null, number | null][]> {
    this.asked++
    if (this.fails) throw new Error('gone')
    const nowMs = this.clock.monotonic()
    const ready = this.due.filter((atMs) => atMs <= nowMs).slice(0, batch)
    for (const atMs of ready) this.due.splice(this.due.indexOf(atMs), 1)
    const next = this.due.length > 0 ? Math.min(...this.due) - nowMs : null
    await Promise.resolve()
    this.during()
    return [[ready.length, ready.length > 0 ? ['light'] : null, next]]
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const hourMs = 3_600_000

test('[E-11] a job is promoted at its time, not at the next tick', async () => {
  const scene = new Scene()
  scene.due.push(1_234)
  scene.promoter.sleep(1_234)
  await scene.turn(1_233)
  expect(scene.asked).toBe(0)
  await scene.turn(1)
  expect(scene.promoted).toEqual([{ atMs: 1_234, count: 1 }])
})

test('[E-11] a promoter with nothing scheduled, or nothing due for a year, asks nothing', async () => {
  const scene = new Scene()
  scene.promoter.sleep(undefined)
  await scene.turn(24 * hourMs)
  scene.promoter.sleep(365 * 24 * hourMs)
  await scene.turn(364 * 24 * hourMs)
  expect(scene.asked).toBe(0)
})

test('[E-11] each look names the next due time, so that one job after the other is on time', async () => {
  const scene = new Scene()
  scene.due.push(100, 250, 5_000)
  scene.promoter.sleep(100)
  await scene.turn(100)
  await scene.turn(150)
  await scene.turn(4_750)
  expect(scene.promoted.map(({ atMs }) => atMs)).toEqual([100, 250, 5_000])
  expect(scene.asked).toBe(3)
})

test('[E-11] it is woken when something earlier arrives, and not for something later', async () => {
  const scene = new Scene()
  scene.due.push(hourMs)
  scene.promoter.sleep(hourMs)
  scene.due.push(2 * hourMs)
  scene.promoter.hear(2 * hourMs)
  scene.due.push(500)
  scene.promoter.hear(500)
  await scene.turn(500)
  expect(scene.promoted).toEqual([{ atMs: 500, count: 1 }])
  await scene.turn(hourMs - 500)
  expect(scene.promoted).toHaveLength(2)
})

test('[E-11] a wake-up that does not say when makes it look', async () => {
  const scene = new Scene()
  scene.promoter.sleep(undefined)
  scene.due.push(100)
  scene.promoter.hear(Number.NEGATIVE_INFINITY)
  await settled()
  await scene.turn(100)
  expect(scene.promoted).toEqual([{ atMs: 100, count: 1 }])
})

test('[E-11] something earlier that arrives while a look is under way is not forgotten by its answer', async () => {
  const scene = new Scene()
  scene.due.push(100, hourMs)
  scene.promoter.sleep(100)
  scene.during = () => {
    scene.during = () => {}
    scene.due.push(300)
    scene.promoter.hear(200)
  }
  await scene.turn(100)
  await scene.turn(200)
  expect(scene.promoted.map(({ atMs }) => atMs)).toEqual([100, 300])
})

test('[E-11] a heartbeat that looked before something earlier arrived does not put it off', async () => {
  const scene = new Scene()
  scene.due.push(hourMs)
  scene.promoter.sleep(hourMs)
  scene.due.push(300)
  scene.promoter.hear(300)
  scene.promoter.sleep(hourMs)
  await scene.turn(300)
  expect(scene.promoted).toEqual([{ atMs: 300, count: 1 }])
})

test('more jobs than a batch takes are promoted in one go', async () => {
  const scene = new Scene()
  for (let i = 0; i < 1_200; i++) scene.due.push(0)
  await expect(scene.promoter.runOnce()).resolves.toBe(1_200)
  expect(scene.due).toEqual([])
})

test('[E-19] a process that lost its term promotes nothing', async () => {
  const scene = new Scene()
  scene.due.push(100)
  scene.promoter.sleep(100)
  scene.term = undefined
  await scene.turn(hourMs)
  expect(scene.asked).toBe(0)
})

test('a promoter that was stopped asks nothing', async () => {
  const scene = new Scene()
  scene.due.push(100)
  scene.promoter.sleep(100)
  scene.promoter.stop()
  await scene.turn(hourMs)
  expect(scene.asked).toBe(0)
})

test('[E-27] a statement that fails is tried again a second later', async () => {
  const scene = new Scene()
  scene.due.push(100)
  scene.promoter.sleep(100)
  scene.fails = true
  await scene.turn(100)
  expect(scene.asked).toBe(1)
  scene.fails = false
  await scene.turn(999)
  expect(scene.asked).toBe(1)
  await scene.turn(1)
  expect(scene.promoted).toEqual([{ atMs: 1_100, count: 1 }])
})
