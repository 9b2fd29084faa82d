/**
 * What every dispatcher must do, told by what people see: jobs that run. Run over each of them by dispatcher.test.ts.
 */
import pg from 'pg'
import { expect, type TestAPI } from 'vitest'
import { z } from 'zod'
import { eventually, type Fixtures } from '../../../../test/support/database.ts'
import { lateness } from '../../../../test/support/lateness.ts'
import type { Engine } from '../engine.ts'
import { defineKind } from '../job/kind.ts'
import { done, retry, snooze } from '../job/outcome.ts'
import type { EngineOptions } from '../options.ts'

/** What an engine needs to dispatch by that one. */
export type Settings = () => Partial<EngineOptions>

const pools = { light: { core: 4, max: 4 } }

/** A kind that notes what ran, in order. */
function noting(name = 'note') {
  const ran: number[] = []
  const kind = defineKind(name, {
    payload: z.looseObject({ n: z.number().default(0) }),
    run: ({ payload }) => void ran.push(payload.n),
  })
  return { kind, ran }
}

const ended = (engine: Engine, client: { query: (text: string) => Promise<{ rows: unknown[] }> }): Promise<boolean> =>
  eventually(
    async () => engine.status().running === 0 && (await client.query('select from sluice.job limit 1')).rows.length === 0,
  )

export function dispatcherSuite(test: TestAPI<Fixtures>, by: 'postgres' | 'redis', settings: Settings): void {
  test('[D-09] an engine says who dispatches', async ({ engines }) => {
    const engine = engines({ pools, ...settings() })
    await engine.start()
    await eventually(() => engine.status().ready && engine.status().dispatch.by === by)
    expect(engine.status()).toMatchObject({ dispatch: { by, instead: undefined } })
  })

  test('[D-09] what is enqueued one by one and in bulk runs once, and leaves for the ledger', async ({ engines, client }) => {
    const { kind, ran } = noting()
    const engine = engines({ kinds: [kind], pools, ...settings() })
    await engine.start()
    await engine.enqueueMany(Array.from({ length: 300 }, (_, n) => kind({ n })))
    for (let n = 300; n < 320; n++) await engine.enqueue(kind({ n }))
    await ended(engine, client)
    expect(ran.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 320 }, (_, n) => n))
  })

  test('[D-09] an engine that enqueued before it was started works like any other', async ({ engines, client }) => {
    const { kind, ran } = noting()
    const engine = engines({ kinds: [kind], pools, ...settings() })
    for (let n = 0; n < 5; n++) await engine.enqueue(kind({ n }))
    await engine.start()
    for (let n = 5; n < 10; n++) await engine.enqueue(kind({ n }))
    await ended(engine, client)
    expect(ran).toHaveLength(10)
    await eventually(() => engine.status().dispatch.leads === (by === 'redis'))
  })

  test('[D-09] what was ready before anybody worked is taken by the first who starts', async ({ engines, client }) => {
    const { kind, ran } = noting()
    await engines({ kinds: [kind] }).enqueueMany([1, 2, 3].map((n) => kind({ n })))
    const engine = engines({ kinds: [kind], pools, ...settings() })
    await engine.start()
    await ended(engine, client)
    expect(ran).toHaveLength(3)
  })

  test('[D-09] plain SQL and a transaction of the caller’s reach a worker, a rolled-back one does not', async ({
    engines,
    client,
  }) => {
    const { kind, ran } = noting()
    const engine = engines({ kinds: [kind], pools, ...settings() })
    await engine.start()
    await client.query(`select sluice.enqueue('note', '{"n": 1}')`)
    await client.query('begin')
    await engine.enqueue(kind({ n: 2 }), { client })
    await client.query('commit')
    await client.query('begin')
    await engine.enqueue(kind({ n: 3 }), { client })
    await client.query('rollback')
    await ended(engine, client)
    expect(new Set(ran)).toEqual(new Set([1, 2]))
    expect(ran).toHaveLength(2)
  })

  test('[D-09] children, retries, snoozes and delayed jobs run at their time', async ({ engines, client }) => {
    const starts: [string, number][] = []
    const child = defineKind('child', { run: () => void starts.push(['child', Date.now()]) })
    const parent = defineKind('parent', {
      run: ({ attempt }) => {
        starts.push(['parent', Date.now()])
        return attempt === 1 ? retry({ after: '100ms' }) : done({ next: [child({})] })
      },
    })
    let naps = 0
    const sleepy = defineKind('sleepy', {
      run: () => {
        starts.push(['sleepy', Date.now()])
        return ++naps < 3 ? snooze('50ms') : done()
      },
    })
    const engine = engines({ kinds: [child, parent, sleepy], pools, lease: '10m', ...settings() })
    await engine.start()
    const [askedMs, timer] = [Date.now(), lateness(300)]
    await engine.enqueueMany([parent({}), sleepy({}), child({}, { delay: '300ms' })])
    await ended(engine, client)
    expect(starts.map(([name]) => name).toSorted()).toEqual(['child', 'child', 'parent', 'parent', 'sleepy', 'sleepy', 'sleepy'])
    const late = starts.filter(([name]) => name === 'child').map(([, ms]) => ms - askedMs)
    expect(Math.max(...late)).toBeGreaterThanOrEqual(299)
    // Heartbeats are minutes apart.
    expect(Math.max(...late) - 300 - (await timer)).toBeLessThan(15_000)
  })

  test('[D-09] [D-10] the more urgent goes first, and inside a priority the older', async ({ engines, client }) => {
    const { kind, ran } = noting()
    await engines({ kinds: [kind] }).enqueueMany([
      kind({ n: 5 }, { priority: -1 }),
      kind({ n: 3 }),
      kind({ n: 4 }),
      kind({ n: 2 }, { priority: 1 }),
      kind({ n: 1 }, { priority: 10 }),
    ])
    const engine = engines({ kinds: [kind], pools: { light: { core: 1, max: 1 } }, ...settings() })
    await engine.start()
    await ended(engine, client)
    expect(ran).toEqual([1, 2, 3, 4, 5])
  })

  test('[D-09] [D-10] inside a lane the more urgent goes first', async ({ engines, client }) => {
    const { kind, ran } = noting()
    await engines({ kinds: [kind] }).enqueueMany(
      [3, 5, -5, 9, 4].map((priority) => kind({ n: priority }, { lane: 'api', priority })),
    )
    const engine = engines({ kinds: [kind], pools: { light: { core: 1, max: 1 } }, ...settings() })
    await engine.start()
    await ended(engine, client)
    expect(ran).toEqual([9, 5, 4, 3, -5])
  })

  test('[D-09] [E-14] lanes share the slots by their weights, in tenths, however urgent the jobs of one are', async ({
    engines,
  }) => {
    const weights = { 'weighed:1': 1, 'weighed:2': 2, 'weighed:4': 4 }
    // The first to start are of those that were told of first; from then on it counts.
    const warmUp = 600
    const starts = 2_100
    const order: string[] = []
    const kind = defineKind('weighed', {
      async run({ lane = '' }) {
        order.push(lane)
        await new Promise((resolve) => setTimeout(resolve, 1))
      },
    })
    const lanes = Object.fromEntries(Object.entries(weights).map(([lane, weight]) => [lane, { weight }]))
    const engine = engines({ kinds: [kind], lanes, pools: { light: { core: 10, max: 10 } }, ...settings() })
    for (const lane of Object.keys(weights))
      await engine.enqueueMany(
        Array.from({ length: warmUp + starts }, () => kind({}, { lane, priority: lane === 'weighed:1' ? 50 : 0 })),
      )
    await engine.start()
    await eventually(() => order.length >= warmUp + starts, 60_000)
    const counted = order.slice(warmUp, warmUp + starts)
    const errors = Object.entries(weights).map(([lane, weight]) =>
      Math.abs(counted.filter((one) => one === lane).length / starts / (weight / 7) - 1),
    )
    expect(Math.max(...errors), `off by ${errors.join(' ')}`).toBeLessThan(0.1)
  }, 120_000)

  test('[D-09] [E-14] a stranger’s single job does not wait for the backlog of others, nor for that of the open lane', async ({
    engines,
  }) => {
    const before: number[] = []
    let started = 0
    const kind = defineKind('busy', {
      payload: z.object({ stranger: z.boolean().default(false) }),
      async run({ payload }) {
        if (payload.stranger) before.push(started)
        started++
        // So long that few of them start while somebody is slow to hear of the stranger.
        await new Promise((resolve) => setTimeout(resolve, 40))
      },
    })
    const engine = engines({ kinds: [kind], pools, ...settings() })
    await engine.enqueueMany(Array.from({ length: 3_000 }, () => kind({})))
    await engine.enqueueMany(Array.from({ length: 3_000 }, (_, n) => kind({}, { lane: `busy:${n % 10}` })))
    await engine.start()
    await eventually(() => started > 100)
    await engine.enqueue(kind({ stranger: true }, { lane: 'stranger' }))
    const askedAt = started
    await eventually(() => before.length === 1)
    // Of six thousand: what was claimed ahead or let out before.
    expect((before[0] as number) - askedAt).toBeLessThan(500)
  })

  test.for<[string, { lane?: string }]>([
    ['the open lane', {}],
    ['a lane', { lane: 'api' }],
  ])(
    '[E-20] a pool whose core is taken stretches to max for a backlog that comes later in %s',
    async ([, options], { engines, client }) => {
      let [now, most] = [0, 0]
      let goOn: () => void = () => {}
      const told = new Promise<void>((resolve) => {
        goOn = resolve
      })
      const kind = defineKind('long', {
        async run() {
          most = Math.max(most, ++now)
          await told
          now--
        },
      })
      const engine = engines({ kinds: [kind], pools: { light: { core: 2, max: 5 } }, ...settings() })
      await engine.start()
      for (const running of [1, 2]) {
        await engine.enqueue(kind({}, options))
        await eventually(() => now === running)
      }
      await engine.enqueueMany(Array.from({ length: 20 }, () => kind({}, options)))
      await eventually(() => now === 5)
      goOn()
      await ended(engine, client)
      expect(most).toBe(5)
    },
  )

  test('[D-09] a lane never runs more than its cap, and other lanes go on', async ({ engines, client }) => {
    let most = 0
    let now = 0
    const others: number[] = []
    const kind = defineKind('laned', {
      payload: z.object({ n: z.number() }),
      async run({ payload }) {
        if (payload.n < 0) return void others.push(payload.n)
        most = Math.max(most, ++now)
        await new Promise((resolve) => setTimeout(resolve, 5))
        now--
      },
    })
    const engine = engines({ kinds: [kind], pools, lanes: { 'tight:*': { cap: 2 } }, ...settings() })
    await engine.start()
    await engine.enqueueMany([
      ...Array.from({ length: 60 }, (_, n) => kind({ n }, { lane: 'tight:a' })),
      kind({ n: -1 }, { lane: 'free' }),
      kind({ n: -2 }),
    ])
    await ended(engine, client)
    expect(most).toBe(2)
    expect(others).toHaveLength(2)
  })

  test('[D-09] [D-03] a budget is spent to its floor and not beyond, and the rest waits for the next window', async ({
    engines,
    client,
  }) => {
    let calls = 0
    const resetAt = new Date(Date.now() + 3_600_000)
    const kind = defineKind('metered', {
      run: ({ report }) => {
        calls++
        report({ remaining: Math.max(0, 20 - calls), resetAt })
      },
    })
    const engine = engines({ kinds: [kind], pools, lanes: { 'api:*': { budget: { floor: 5, limit: 20 } } }, ...settings() })
    await engine.start()
    await engine.enqueueMany(Array.from({ length: 40 }, () => kind({}, { lane: 'api:x' })))
    await eventually(async () => calls >= 15 && engine.status().running === 0)
    expect(calls).toBe(15)
    await engine.lanes.sync('api:x', { remaining: 1_000, resetAt: new Date(resetAt.getTime() + 3_600_000) })
    await ended(engine, client)
    expect(calls).toBe(40)
  })

  test('[D-09] pauses of kind, pool, lane and owner stop the next start, and resuming lets it go on', async ({
    engines,
    client,
  }) => {
    const { kind, ran } = noting()
    const engine = engines({ kinds: [kind], pools, ...settings() })
    await engine.start()
    for (const [n, target] of (
      [
        { scope: 'kind', name: 'note' },
        { scope: 'pool', name: 'light' },
        { scope: 'lane', name: 'one' },
        { scope: 'owner', name: 'ann' },
      ] as const
    ).entries()) {
      await engine.pause(target)
      const { id } = await engine.enqueue(kind({ n }, { lane: 'one', owner: 'ann' }))
      const { id: after } = await engine.enqueue(kind({ n: n + 10 }, { lane: 'two', pool: 'light' }))
      if (target.scope === 'lane' || target.scope === 'owner')
        await eventually(async () => (await engine.find(after))?.state === 'succeeded')
      expect(ran).not.toContain(n)
      await engine.resume(target)
      await eventually(async () => (await engine.find(id))?.state === 'succeeded')
    }
    await ended(engine, client)
    expect(ran).toHaveLength(8)
  })

  test('[D-09] [E-10] a suspect of the open lane whose owner got limits since is not forgotten', async ({ engines, client }) => {
    const { kind, ran } = noting()
    const engine = engines({ kinds: [kind], pools, lease: '2s', ...settings() })
    await engine.migrate()
    const { id } = await engine.enqueue(kind({ n: 1 }, { owner: 'ann' }))
    await client.query('update sluice.job set crashes = 2')
    await engine.pause({ scope: 'owner', name: 'ann' })
    await engine.start()
    await engine.enqueue(kind({ n: 2 }))
    await eventually(() => ran.includes(2))
    await engine.resume({ scope: 'owner', name: 'ann' })
    await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  })

  test('[D-09] [E-12] a lane or an owner in somebody’s open transaction keeps no other lane and no open job waiting', async ({
    engines,
    client,
    database,
  }) => {
    const ran: string[] = []
    const kind = defineKind('k', { run: ({ lane }) => void ran.push(lane ?? 'open') })
    const engine = engines({ kinds: [kind], pools, ...settings() })
    await engine.migrate()
    await client.query(`select sluice.adopt_lanes('{held,ann:api}')`)
    await engine.owners.set('ann', { cap: 5 })
    await client.query(`update sluice.lane set owner = 'ann' where key = 'ann:api'`)
    const person = new pg.Client(database.url)
    await person.connect()
    await person.query('begin')
    for (const lane of ['held', 'made']) await engine.pause({ scope: 'lane', name: lane }, 'thinking', { client: person })
    await person.query(`select from sluice.owner where name = 'ann' for update`)
    await engine.start()
    for (let n = 0; n < 20; n++) await engine.enqueueMany(['held', 'made', 'ann:api'].map((lane) => kind({ n }, { lane })))
    await engine.enqueueMany([kind({}, { lane: 'free' }), kind({})])
    await eventually(() => ran.length === 2)
    expect(ran.toSorted()).toEqual(['free', 'open'])
    await person.query('rollback')
    await eventually(() => ran.length === 62)
    await person.end()
  })

  test('[D-09] a process that leaves with jobs in hand hands them to others', async ({ engines, client }) => {
    const { kind, ran } = noting('slow')
    const hanging = defineKind('slow', { run: () => new Promise<void>(() => {}) })
    const dying = engines({ kinds: [hanging], pools, lease: '5s', grace: '1ms', ...settings() })
    await dying.start()
    await dying.enqueueMany(Array.from({ length: 10 }, () => hanging({})))
    await eventually(() => dying.status().running === 4)
    await dying.stop()
    const engine = engines({ kinds: [kind], pools, lease: '5s', ...settings() })
    await engine.start()
    await ended(engine, client)
    expect(ran).toHaveLength(10)
  })
}
