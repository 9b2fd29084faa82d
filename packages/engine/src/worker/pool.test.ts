/** The pool's loop, with a queue in memory in place of the database: how much it claims, when it looks, and what it never does. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Claim } from '../dispatch/claim.ts'
import { type LanedClaims, lowestRank } from '../dispatch/postgres/claim.ts'
import { PostgresSupply } from '../dispatch/postgres/postgres-supply.ts'
import { HandClock } from '../testing/hand-clock.ts'
import { Pool } from './pool.ts'

/** A database of ready jobs and a pool on it. Claims answer when `answer` is called, or by themselves; jobs run until `end`. */
class Scene {
  readonly clock = new HandClock()
  readonly looks: { slots: number; since: number }[] = []
  readonly ready: Claim[] = []
  readonly started: number[] = []
  readonly back: Claim[] = []
  readonly lanes: LanedClaims[] = [] // what looks at the lanes answer, one after the other; then nothing
  readonly lanedLooks: { slots: number; ahead: number }[] = []
  readonly pool: Pool
  mostRunning = 0
  unsettled = 0
  readonly asked: number[] = [] // jobs that claims under way asked for
  mostAsking = 0
  mostInHand = 0
  during: () => void = () => {} // runs when a claim is under way, before it is answered
  #ends = new Map<number, () => void>()
  #nextId = 1

  constructor(core: number, max: number) {
    this.pool = new Pool({
      name: 'light',
      core,
      max,
      clock: this.clock,
      supply: (demand) => new PostgresSupply(demand, { clock: this.clock, claim: this.#claim, claimLaned: this.#claimLaned }),
      run: (claim) => this.#run(claim),
      giveBack: (claims) => this.#takeBack(claims),
      unsettled: () => this.unsettled,
    })
  }

  get running(): number {
    return this.#ends.size
  }

  add(count: number, rank = 1_000): void {
    for (let i = 0; i < count; i++) this.ready.push({ ...claim, id: this.#nextId++, rank })
    this.ready.sort((a, b) => a.rank - b.rank || a.id - b.id)
  }

  end(count: number): void {
    for (const [id, end] of [...this.#ends].slice(0, count)) {
      this.#ends.delete(id)
      end()
    }
  }

  async turn(ms: number): Promise<void> {
    this.clock.turn(ms)
    await settled()
  }

  async endOneIn(ms: number): Promise<void> {
    this.clock.turn(ms)
    this.end(1)
    await settled()
  }

  /** Wakes the pool and waits until it has nothing left to do. */
  async wake(): Promise<void> {
    this.pool.wake('open')
    await settled()
  }

  #takeBack(claims: readonly Claim[]): void {
    this.back.push(...claims)
    this.ready.push(...claims)
    this.ready.sort((a, b) => a.rank - b.rank || a.id - b.id)
  }

  #claimLaned = async (slots: number, ahead: number): Promise<LanedClaims> => {
    this.lanedLooks.push({ slots, ahead })
    return this.lanes.shift() ?? { claims: [], again: false, moved: false }
  }

  #claim = async (slots: number, since: number): Promise<Claim[]> => {
    this.looks.push({ slots, since })
    this.asked.push(slots)
    this.mostAsking = Math.max(this.mostAsking, this.asked.length)
    const asked = this.asked.reduce((sum, one) => sum + one)
    this.mostInHand = Math.max(this.mostInHand, asked + this.pool.waiting + this.pool.running)
    const found = this.ready.filter(({ rank }) => rank >= since).slice(0, slots)
    for (const one of found) this.ready.splice(this.ready.indexOf(one), 1)
    await Promise.resolve()
    this.during()
    this.asked.splice(this.asked.indexOf(slots), 1)
    return found
  }

  #run({ id }: Claim): Promise<void> {
    this.started.push(id)
    return new Promise((resolve) => {
      this.#ends.set(id, resolve)
      this.mostRunning = Math.max(this.mostRunning, this.running)
    })
  }
}

const claim: Claim = {
  id: 0,
  fence: 1,
  kind: 'x',
  payload: '{}',
  attempt: 1,
  maxAttempts: 1,
  crashes: 0,
  rank: 0,
  priority: 0,
  trace: undefined,
  owner: undefined,
  root: undefined,
  createdAtMs: 0,
  run: undefined,
  event: undefined,
  lane: undefined,
}

/** Everything that waits for nothing but other promises is over after a turn of the event loop. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('[E-11] a pool that nobody wakes asks nothing', async () => {
  const scene = new Scene(2, 4)
  scene.add(3)
  await scene.turn(3_600_000)
  expect(scene.looks).toEqual([])
})

test.for([0, 2])(
  '[E-11] a look that comes back empty is the last one until the next wake-up, with %i of 2 at work',
  async (atWork) => {
    const scene = new Scene(2, 4)
    scene.add(atWork)
    await scene.wake()
    scene.looks.length = 0
    await scene.wake()
    expect(scene.looks).toHaveLength(1)
    expect(scene.running).toBe(atWork)
  },
)

test('[E-20] a pool runs up to core without a backlog, and asks for no more than that', async () => {
  const scene = new Scene(3, 6)
  scene.add(2)
  await scene.wake()
  expect(scene.running).toBe(2)
  expect(scene.looks).toEqual([{ slots: 3, since: lowestRank }])
})

test('[E-20] a pool stretches to max while a backlog stands, and not above', async () => {
  const scene = new Scene(3, 6)
  scene.add(20)
  await scene.wake()
  expect(scene.running).toBe(6)
  expect(scene.ready).toHaveLength(14)
})

test('[E-20] what was claimed while a backlog stood starts at once, also when the backlog is gone by then', async () => {
  const scene = new Scene(5, 10)
  scene.add(7)
  await scene.wake()
  expect(scene.running).toBe(7)
  expect(scene.pool.waiting).toBe(0)
})

test('[E-20] a pool whose backlog is gone falls back to core', async () => {
  const scene = new Scene(2, 4)
  scene.add(5)
  await scene.wake()
  expect(scene.running).toBe(4)
  scene.end(4)
  await settled()
  expect(scene.running).toBe(1)
  scene.looks.length = 0
  await scene.wake()
  expect(scene.looks[0]?.slots).toBe(1)
})

test('[E-20] whatever comes and goes, a pool never runs more than max, and in the end it has run everything once', async () => {
  const step = fc.oneof(
    fc.record({ add: fc.integer({ min: 1, max: 30 }), rank: fc.integer({ min: 0, max: 500 }) }),
    fc.record({ end: fc.integer({ min: 1, max: 8 }) }),
    fc.record({ turn: fc.integer({ min: 1, max: 1_500 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.nat(4), fc.array(step, { maxLength: 30 }), async (core, extra, steps) => {
      const scene = new Scene(core, core + extra)
      let added = 0
      for (const one of steps) {
        if ('add' in one) {
          scene.add(one.add, one.rank)
          added += one.add
          scene.pool.wake('open')
        } else if ('end' in one) scene.end(one.end)
        else scene.clock.turn(one.turn)
        await settled()
        expect(scene.running).toBeLessThanOrEqual(core + extra)
      }
      while (scene.running > 0) {
        scene.end(scene.running)
        await settled()
      }
      expect(scene.ready).toEqual([])
      expect(scene.started.toSorted((a, b) => a - b)).toEqual(Array.from({ length: added }, (_, index) => index + 1))
    }),
    { numRuns: 100 },
  )
})

test('[E-11] a wake-up during a claim causes another look, because the claim may have been too early for it', async () => {
  const scene = new Scene(2, 2)
  scene.during = () => {
    scene.during = () => {}
    scene.add(1)
    scene.pool.wake('open')
  }
  await scene.wake()
  expect(scene.looks).toHaveLength(2)
  expect(scene.running).toBe(1)
})

test('a pool does not run away from the settler, and goes on as soon as it has caught up', async () => {
  const scene = new Scene(2, 2)
  scene.unsettled = 100_000
  scene.add(1)
  await scene.wake()
  expect(scene.looks).toEqual([])
  scene.unsettled = 0
  scene.pool.goOn()
  await settled()
  expect(scene.running).toBe(1)
})

describe('[E-23] a pool on hold', () => {
  test('gives back what it claimed and did not start, and starts nothing more', async () => {
    const scene = new Scene(1, 1)
    await claimAhead(scene)
    const waiting = scene.pool.waiting
    expect(waiting).toBeGreaterThan(0)
    expect(scene.pool.hold()).toHaveLength(waiting)
    expect(scene.pool.waiting).toBe(0)
    const started = scene.started.length
    scene.end(1)
    await scene.wake()
    expect(scene.started).toHaveLength(started)
    expect(scene.pool.running).toBe(0)
  })

  test('claims nothing until it is released, and then looks by itself', async () => {
    const scene = new Scene(1, 1)
    scene.pool.hold()
    scene.add(1)
    await scene.wake()
    expect(scene.looks).toEqual([])
    scene.pool.release()
    await settled()
    expect(scene.running).toBe(1)
  })
})

describe('short jobs are claimed ahead of their slots', () => {
  test('as many as the pool got through lately in 40 ms', async () => {
    const scene = new Scene(1, 1)
    await claimAhead(scene)
    // One job a millisecond: 40 ahead and the slot.
    expect(Math.max(...scene.looks.map(({ slots }) => slots))).toBeGreaterThan(10)
    expect(Math.max(...scene.looks.map(({ slots }) => slots))).toBeLessThanOrEqual(41)
    expect(scene.mostRunning).toBe(1)
  })

  test('but slow ones are not', async () => {
    const scene = new Scene(1, 1)
    scene.add(20)
    await scene.wake()
    for (let i = 0; i < 10; i++) await scene.endOneIn(100)
    expect(new Set(scene.looks.map(({ slots }) => slots))).toEqual(new Set([1]))
  })
})

test('under a backlog of short jobs two claims are under way, together for no more than may be in hand', async () => {
  const scene = new Scene(100, 100)
  scene.add(20_000)
  await scene.wake()
  while (scene.running > 0) {
    await scene.turn(1)
    scene.end(100)
    await settled()
  }
  expect(scene.mostAsking).toBe(2)
  expect(scene.mostInHand).toBeLessThanOrEqual(100 + 1_000)
  expect([scene.started.length, new Set(scene.started).size]).toEqual([20_000, 20_000])
})

describe('[E-20] claims that were made ahead', () => {
  test('go back when slow jobs have taken the slots, because another process may have one', async () => {
    const scene = new Scene(1, 1)
    await claimAhead(scene)
    const { waiting } = scene.pool
    expect(waiting).toBeGreaterThan(0)
    // From now on nothing ends.
    await scene.turn(200)
    expect(scene.back).toHaveLength(waiting)
    expect(scene.pool.waiting).toBe(0)
    scene.looks.length = 0
    scene.end(1)
    await settled()
    // It knows now that jobs are slow: it claims for its slot and nothing ahead.
    expect(scene.looks.map(({ slots }) => slots)).toEqual([1])
  })

  test('stay while they are started one after the other', async () => {
    const scene = new Scene(1, 1)
    await claimAhead(scene)
    await claimAhead(scene)
    expect(scene.back).toEqual([])
  })
})

describe('[E-03] under load a claim starts its scan where the last one found something', () => {
  test('with a look from the very start now and then, so that a more urgent job waits a second at most', async () => {
    const scene = new Scene(1, 1)
    scene.add(50, 10_000)
    await scene.wake()
    scene.add(1, 5)
    scene.pool.wake('open')
    const urgent = scene.ready[0]?.id ?? 0
    for (let ms = 0; ms <= 1_100; ms += 100) await scene.endOneIn(100)
    expect(scene.started.indexOf(urgent)).toBeGreaterThan(0)
    expect(scene.looks.map(({ since }) => since)).toContain(10_000 - 50)
  })

  test('and before it goes to sleep it looks from the very start, so that no urgent job is left behind', async () => {
    const scene = new Scene(2, 2)
    scene.add(3, 10_000)
    await scene.wake()
    scene.add(1, 5)
    scene.pool.wake('open')
    // The backlog ends before the next full look would be due.
    for (let i = 0; i < 6; i++) {
      scene.end(1)
      await settled()
    }
    expect(scene.ready).toEqual([])
    expect(scene.started).toHaveLength(4)
  })
})

/** Lets jobs of a millisecond each go through the pool until it claims ahead. */
async function claimAhead(scene: Scene): Promise<void> {
  scene.add(500)
  await scene.wake()
  for (let i = 0; i < 200; i++) await scene.endOneIn(1)
}

describe('the lanes of a pool', () => {
  test('a look that only put closed lanes out of the way is followed by another at once', async () => {
    const scene = new Scene(5, 5)
    const passed = { claims: [], again: true, moved: true }
    scene.lanes.push(passed, passed, { claims: [{ ...claim, id: 7, lane: 'open' }], again: false, moved: false })
    scene.pool.wake('lanes')
    await settled()
    expect(scene.started).toEqual([7])
  })

  test('one that found lanes that others hold waits, longer each time', async () => {
    const scene = new Scene(5, 5)
    for (let i = 0; i < 10; i++) scene.lanes.push({ claims: [], again: true, moved: false })
    scene.pool.wake('lanes')
    await settled()
    expect(scene.lanedLooks).toHaveLength(1)
    await scene.turn(4)
    expect(scene.lanedLooks).toHaveLength(2)
    await scene.turn(4)
    expect(scene.lanedLooks).toHaveLength(2)
    await scene.turn(4)
    expect(scene.lanedLooks).toHaveLength(3)
  })

  test('jobs of both sources start in turn', async () => {
    const scene = new Scene(4, 4)
    scene.add(8)
    await scene.wake()
    scene.lanes.push({ claims: [101, 102].map((id) => ({ ...claim, id, lane: 'api' })), again: false, moved: false })
    scene.pool.wake('lanes')
    await settled()
    scene.end(4)
    await settled()
    expect(scene.started.filter((id) => id > 100)).toEqual([101, 102])
    expect(scene.lanedLooks[0]).toEqual({ slots: 2, ahead: 0 })
  })
})
