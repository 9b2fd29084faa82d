/** The collector as people hold it: the one way in, and how far it is. */
import { defineKind, defineRun, done, type Engine, generateMasterKey, KeyRing, once } from '@sluice/engine'
import { createGithub } from '@sluice/github'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { nobodysApi, test } from '../../../test/support/collector-scene.ts'
import { eventually } from '../../../test/support/database.ts'
import { Collector } from './collector.ts'
import { collectorMigrations } from './migrations.ts'
import { collectionRequested } from './request/request-event.ts'
import { runNames } from './request/run-names.ts'

const backfill = async () => ({ run: 7 })
const open = (engine: Engine): Collector => new Collector({ engine, github: createGithub({ baseUrl: nobodysApi }), backfill })

const page = defineKind('test.page', {
  payload: z.object({ fails: z.boolean().optional() }),
  lane: ({ owner }) => `github:${owner}:graphql`,
  retry: once,
  run: ({ payload }) => {
    if (payload.fails) throw new Error('no')
  },
})
const collect = defineRun(runNames.collect, {
  payload: z.object({ pages: z.int(), failing: z.int().optional() }),
  plan: ({ payload, owner }) => {
    const request = (fails: boolean) => page({ fails }, owner === undefined ? {} : { owner })
    return done({ next: Array.from({ length: payload.pages }, (_, at) => request(at < (payload.failing ?? 0))) })
  },
})
const withRuns = {
  migrations: [collectorMigrations],
  events: [collectionRequested],
  kinds: [page],
  runs: [collect],
  lanes: { 'github:*': { budget: { limit: 5_000, floor: 100 } } },
  secrets: KeyRing.fromText(generateMasterKey()),
} as const

describe('[C-02] a request', () => {
  test('[C-02] publishes the one event, with its trigger and start, on behalf of the user', async ({ engine, addUser }) => {
    await addUser(1)
    const start = new Date('2026-01-01T00:00:00Z')
    const { event } = await open(engine).request(1, { start, trigger: 'scheduled' })
    expect(await engine.events.find(event)).toMatchObject({
      type: 'collector.requested',
      owner: '1',
      payload: { userId: 1, trigger: 'scheduled', start: '2026-01-01T00:00:00.000Z' },
    })
    const manual = await open(engine).request(1)
    expect(manual).toMatchObject({ userId: 1, trigger: 'manual' })
    expect((await engine.events.find(manual.event))?.payload).toEqual({ userId: 1, trigger: 'manual' })
  })

  test('[C-02] of a user that nobody knows, or with what nobody understands, is refused', async ({ engine, addUser }) => {
    await addUser(1)
    const collector = open(engine)
    await expect(collector.request(5)).rejects.toMatchObject({ code: 'USER_UNKNOWN' })
    await expect(collector.request(1, { trigger: 'mood' as never })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await expect(collector.request(1, { start: new Date(Number.NaN) })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await expect(collector.request(1, { collection: 99 })).rejects.toMatchObject({ code: 'COLLECTION_UNKNOWN' })
    expect(await engine.events.list()).toEqual([])
  })

  test('[C-02] while one is under way is refused and names it; after its end it is taken', async ({ engines, addUser }) => {
    await addUser(1)
    const engine = engines(withRuns)
    const collector = open(engine)
    const run = await engine.runs.start(collect({ pages: 1 }, { owner: '1' }))
    await expect(collector.request(1)).rejects.toMatchObject({ code: 'COLLECTION_ACTIVE', details: { user: 1, run: run.id } })
    expect(await collector.users.find(1)).toMatchObject({ lastRun: run.id })
    expect(await collector.cancel(1, 'enough')).toBe('canceled')
    expect(await collector.cancel(1)).toBe('not active')
    await expect(collector.request(1)).resolves.toMatchObject({ userId: 1 })
  })

  test('[C-16] a backfill is of a user that is known', async ({ engine, addUser }) => {
    await addUser(1)
    const range = { from: new Date(0), to: new Date(1), slice: 'day' } as const
    expect(await open(engine).backfill(1, range)).toEqual({ run: 7 })
    await expect(open(engine).backfill(2, range)).rejects.toMatchObject({ code: 'USER_UNKNOWN' })
  })
})

describe('[C-14] progress', () => {
  test('[C-14] of a user that was never collected there is none', async ({ engine, addUser }) => {
    await addUser(1)
    expect(await open(engine).progress(1)).toBeUndefined()
    expect(await open(engine).retry(1)).toBe(0)
  })

  test('[C-14] shows jobs by kind, quota by resource, and what holds them up', async ({ engines, addUser }) => {
    await addUser(1)
    const engine = engines({ ...withRuns, pools: { light: { core: 1, max: 1 } } })
    const collector = open(engine)
    const resetAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 1_800_000)
    await engine.lanes.set('github:1:graphql', { owner: '1', budget: { limit: 5_000, floor: 100 } })
    await engine.lanes.sync('github:1:graphql', { remaining: 100, resetAt })
    await engine.runs.start(collect({ pages: 5 }, { owner: '1' }), { trigger: 'signup' })
    await engine.start()
    const seen = await eventually(async () => {
      const progress = await collector.progress(1)
      return progress?.run.state === 'running' && progress
    })
    expect(seen).toMatchObject({ run: { state: 'running', trigger: 'signup', finishedAt: null }, remainingJobs: 5 })
    expect(seen.kinds).toEqual([
      { kind: runNames.collect, total: 1, done: 1, failed: 0 },
      { kind: 'test.page', total: 5, done: 0, failed: 0 },
    ])
    expect(seen.quota).toMatchObject([
      { resource: 'core', remaining: null, limit: null, paused: null, waits: null },
      {
        resource: 'graphql',
        remaining: 100,
        limit: 5_000,
        floor: 100,
        resetAt,
        holdUntil: null,
        paused: null,
        waits: { for: 'window', until: resetAt },
      },
    ])
    // all that is left is the floor: it goes on after the reset
    expect(seen.expectedEnd?.getTime()).toBeGreaterThanOrEqual(resetAt.getTime())
    const hold = new Date(resetAt.getTime() + 60_000)
    await engine.owners.hold('1', hold)
    expect((await collector.progress(1))?.quota.map(({ holdUntil }) => holdUntil)).toEqual([hold, hold])
    await engine.pause({ scope: 'owner', name: '1' }, 'token refused')
    expect(await collector.progress(1)).toMatchObject({
      expectedEnd: null,
      quota: [{ paused: 'token refused' }, { paused: 'token refused' }],
    })
  })

  test('[C-14] of a run that has ended shows how, and its failed jobs can be tried again', async ({ engines, addUser }) => {
    await addUser(1)
    const engine = engines({ ...withRuns, lanes: {} })
    const collector = open(engine)
    await engine.runs.start(collect({ pages: 3, failing: 1 }, { owner: '1' }))
    await engine.start()
    const ended = await eventually(async () => {
      const progress = await collector.progress(1)
      return progress?.run.finishedAt ? progress : undefined
    })
    expect(ended).toMatchObject({ remainingJobs: 0, expectedEnd: null })
    expect(ended.kinds.find(({ kind }) => kind === 'test.page')).toEqual({ kind: 'test.page', total: 3, done: 2, failed: 1 })
    expect(await collector.retry(1)).toBe(1)
  })
})
