/** When the heart beats, and how long a process may trust its lease: with a database in memory and a clock turned by hand. */
import { describe, expect, test } from 'vitest'
import type { Database } from '../postgres/database.ts'
import { silentLog } from '../support/log.ts'
import { HandClock } from '../testing/hand-clock.ts'
import { type Beat, Heartbeat } from './heartbeat.ts'

const leaseMs = 12_000

/** A heart whose database answers at once, late, or not at all. */
class Scene {
  readonly clock = new HandClock()
  readonly beats: Beat[] = []
  readonly heartbeat: Heartbeat
  asked = 0
  connections = 0
  busy = false
  hears = true
  mayLead = true
  known = true
  term: number | null = 1
  leaderMs = leaseMs
  fails = false
  #answer: (() => void) | undefined
  late = false

  constructor() {
    const database = {
      client: async () => {
        this.connections++
        return { once: () => {}, end: async () => {} }
      },
      send: async () => {
        this.asked++
        if (this.late)
          await new Promise<void>((resolve) => {
            this.#answer = resolve
          })
        if (this.fails) throw new Error('gone')
        return [[this.known, this.term, this.leaderMs, [], null, false, 0, null, null, null]]
      },
    }
    this.heartbeat = new Heartbeat({
      database: database as unknown as Database,
      clock: this.clock,
      log: silentLog,
      leaseMs,
      pools: ['light'],
      mayLead: () => this.mayLead,
      worker: () => 1,
      unknownKinds: () => [],
      running: () => ({}),
      busy: () => this.busy,
      offeredMs: () => null,
      hears: () => this.hears,
      onBeat: (beat) => void this.beats.push(beat),
    })
  }

  async turn(ms: number): Promise<void> {
    this.clock.turn(ms)
    await settled()
  }

  async answer(): Promise<void> {
    this.#answer?.()
    await settled()
  }

  /** How long it takes to the next beat, in whole milliseconds. */
  async nextMs(): Promise<number> {
    const before = this.asked
    for (let ms = 1; ms <= 60_000; ms++) {
      await this.turn(1)
      if (this.asked > before) return ms
    }
    throw new Error('the heart stands still')
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('[E-07] a process that runs jobs beats three times a lease, an idle one just often enough to keep it', async () => {
  const scene = new Scene()
  await scene.heartbeat.start()
  expect(await scene.nextMs()).toBe(leaseMs * 0.75)
  scene.busy = true
  await scene.heartbeat.beatNow()
  expect(await scene.nextMs()).toBe(leaseMs / 3)
})

test('[E-11] a process that hears no wake-ups beats every second, because the beat is its wake-up', async () => {
  const scene = new Scene()
  scene.hears = false
  await scene.heartbeat.start()
  expect(await scene.nextMs()).toBe(1_000)
})

test('[E-19] whoever does not lead beats when the leader’s term would end, if that is sooner', async () => {
  const scene = new Scene()
  scene.term = null
  scene.leaderMs = 2_000
  await scene.heartbeat.start()
  expect(await scene.nextMs()).toBe(2_050)
})

test('[E-19] a process that may not lead does not wait for the leader’s term', async () => {
  const scene = new Scene()
  Object.assign(scene, { term: null, leaderMs: 2_000, mayLead: false })
  await scene.heartbeat.start()
  expect(await scene.nextMs()).toBe(leaseMs * 0.75)
})

test('[E-19] a term that ended already does not make the heart race', async () => {
  const scene = new Scene()
  Object.assign(scene, { term: null, leaderMs: -5_000 })
  await scene.heartbeat.start()
  expect(await scene.nextMs()).toBe(50)
})

test('beats that are asked for together are one', async () => {
  const scene = new Scene()
  scene.late = true
  const both = [scene.heartbeat.beatNow(), scene.heartbeat.beatNow()]
  await settled()
  await scene.answer()
  await Promise.all(both)
  expect(scene.beats).toHaveLength(1)
})

test('a beat that is asked for while one is under way follows it, because that one may have looked too early', async () => {
  const scene = new Scene()
  scene.late = true
  void scene.heartbeat.beatNow()
  await settled()
  void scene.heartbeat.beatNow()
  scene.late = false
  await scene.answer()
  await settled()
  expect(scene.asked).toBe(2)
})

test('a process that begins to run jobs does not wait for the slow beat of an idle one', async () => {
  const scene = new Scene()
  await scene.heartbeat.start()
  await scene.turn(1_000)
  scene.busy = true
  scene.heartbeat.hurry()
  expect(await scene.nextMs()).toBe(leaseMs / 3 - 1_000)
})

describe('[E-07] trust in the lease', () => {
  test('is counted from the moment the beat was sent, not answered', async () => {
    const scene = new Scene()
    scene.late = true
    const started = scene.heartbeat.start()
    await settled()
    await scene.turn(4_000)
    scene.late = false
    await scene.answer()
    await started
    expect(scene.heartbeat.trusted).toBe(true)
    scene.fails = true
    await scene.turn(leaseMs - 4_000 - 1)
    expect(scene.heartbeat.trusted).toBe(true)
    await scene.turn(1)
    expect(scene.heartbeat.trusted).toBe(false)
  })

  test('is not given before the first beat, nor by a database that does not know the process', async () => {
    const scene = new Scene()
    expect(scene.heartbeat.trusted).toBe(false)
    scene.known = false
    await scene.heartbeat.start()
    expect(scene.heartbeat.trusted).toBe(false)
    expect(scene.beats).toMatchObject([{ known: false }])
  })
})

test('[E-07] a process that was declared dead and came back beats at once, and is trusted again', async () => {
  const scene = new Scene()
  Object.assign(scene, { known: false, mayLead: false })
  await scene.heartbeat.start()
  scene.known = true
  await scene.turn(0)
  expect(scene.heartbeat.trusted).toBe(true)
})

describe('[E-27] a beat that fails', () => {
  test('is tried again soon, on a new connection, and says so in readiness', async () => {
    const scene = new Scene()
    await scene.heartbeat.start()
    expect(scene.heartbeat.answered).toBe(true)
    scene.fails = true
    await scene.heartbeat.beatNow()
    expect(scene.heartbeat.answered).toBe(false)
    scene.fails = false
    expect(await scene.nextMs()).toBe(250)
    expect(scene.heartbeat.answered).toBe(true)
    expect(scene.connections).toBe(2)
  })

  test('because the answer never comes is given up after five seconds', async () => {
    const scene = new Scene()
    let ended = 0
    const client = { once: () => {}, end: async () => void ended++ }
    const database = { client: async () => client, send: () => new Promise(() => {}) }
    Object.assign(scene, { late: true })
    const heartbeat = new Heartbeat({ ...optionsOf(scene), database: database as unknown as Database })
    void heartbeat.start()
    await settled()
    await scene.turn(4_999)
    expect(ended).toBe(0)
    await scene.turn(1)
    expect(ended).toBe(1)
  })
})

test('a heart that was stopped stays still', async () => {
  const scene = new Scene()
  await scene.heartbeat.start()
  await scene.heartbeat.stop()
  const { asked } = scene
  await scene.heartbeat.beatNow()
  await scene.turn(10 * leaseMs)
  expect(scene.asked).toBe(asked)
})

function optionsOf(scene: Scene) {
  return {
    clock: scene.clock,
    log: silentLog,
    leaseMs,
    pools: [],
    mayLead: () => false,
    worker: () => 1,
    unknownKinds: () => [],
    running: () => ({}),
    busy: () => false,
    offeredMs: () => null,
    hears: () => true,
    onBeat: () => {},
  }
}
