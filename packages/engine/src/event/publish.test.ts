/** What handlers publish, what runs tell of their end, and what is forgotten: events that nobody published by hand. */
import type pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import type { Engine } from '../engine.ts'
import { defineKind } from '../job/kind.ts'
import { done, fail } from '../job/outcome.ts'
import { once } from '../job/retry.ts'
import { Pruner } from '../maintenance/pruner.ts'
import { Database } from '../postgres/database.ts'
import { defineRun } from '../run/run-kind.ts'
import { systemClock } from '../support/clock.ts'
import { silentLog } from '../support/log.ts'
import { createTestKit } from '../testing/test-kit.ts'
import { defineEvent } from './event.ts'
import { runCanceled, runCompleted, runEnding, runFailed } from './run-events.ts'

const told = defineEvent('told', { payload: z.object({ n: z.number() }) })

const idle = (client: pg.Client) =>
  eventually(async () => (await client.query(`select from sluice.job where shelf is distinct from 'failed'`)).rowCount === 0)

test('[E-17] [E-09] what a handler publishes is all or nothing with its write and its end', async ({ engines, client }) => {
  await client.query('create table note (n int unique deferrable initially deferred)') // a clash shows at the commit, after the publishing
  const heard: number[] = []
  const hear = defineKind('hear', {
    payload: z.object({ n: z.number() }),
    on: [told],
    run: ({ payload }) => void heard.push(payload.n),
  })
  const tell = defineKind('tell', {
    payload: z.object({ ns: z.array(z.union([z.number(), z.string()])) }),
    retry: once,
    run: ({ payload: { ns } }) =>
      done({
        write: (tx) => tx.query('insert into note values ($1)', [ns[0]]),
        publish: ns.map((n) => told({ n: n as number }, { owner: 'ann' })),
      }),
  })
  const engine = engines({ kinds: [hear, tell] })
  await engine.start()
  const good = await engine.enqueue(tell({ ns: [1, 2] }))
  await idle(client)
  const clash = await engine.enqueue(tell({ ns: [1, 3] })) // its row is there already
  const unfit = await engine.enqueue(tell({ ns: [4, 'five'] })) // its second event does not fit
  await idle(client)
  expect(heard.toSorted((a, b) => a - b)).toEqual([1, 2])
  expect((await client.query('select n from note')).rows).toEqual([{ n: 1 }])
  expect(await engine.events.list()).toMatchObject([
    { payload: { n: 2 }, job: good.id, run: null, owner: 'ann', cause: null, depth: 0 },
    { payload: { n: 1 }, job: good.id },
  ])
  expect(await engine.find(clash.id)).toMatchObject({ state: 'failed', error: { code: '23505' } })
  expect(await engine.find(unfit.id)).toMatchObject({ state: 'failed', error: { code: 'INVALID_PAYLOAD' } })
})

test('[E-17] of jobs that are settled together, one that cannot publish does not take its neighbours along', async ({
  engines,
  client,
}) => {
  const tell = defineKind('tell', {
    payload: z.object({ n: z.union([z.number(), z.string()]) }),
    retry: once,
    run: ({ payload }) => done({ publish: [told({ n: payload.n as number })] }),
  })
  const engine = engines({ kinds: [tell], events: [told] })
  await engine.enqueueMany([1, 2, 'three', 4].map((n) => tell({ n })))
  await engine.start()
  await idle(client)
  const events = await engine.events.list()
  expect(events.map(({ payload }) => (payload as { n: number }).n).toSorted((a, b) => a - b)).toEqual([1, 2, 4])
  expect(await engine.failed()).toMatchObject([{ payload: { n: 'three' }, error: { code: 'INVALID_PAYLOAD' } }])
})

test.for([
  ['with a write', true],
  ['without one', false],
] as const)('[E-17] [E-07] whoever lost its job meanwhile publishes nothing, %s', async ([, write], { engines, client }) => {
  let runs = 0
  const late = defineKind('late', {
    async run({ id }) {
      runs++
      await client.query('update sluice.job set fence = fence + 1 where id = $1', [id])
      return done({ ...(write ? { write: async () => {} } : {}), publish: [told({ n: 1 })] })
    },
  })
  const engine = engines({ kinds: [late], events: [told] })
  await engine.start()
  await engine.enqueue(late({}))
  await eventually(() => runs > 0 && engine.status().running === 0)
  await engine.stop() // whatever was to be settled is
  expect((await client.query('select from sluice.event')).rowCount).toBe(0)
})

test('[E-17] the end of a run is told once, whichever way it ends', async ({ engines, client }) => {
  const heard: { type: string | undefined; payload: z.infer<typeof runEnding>; owner: string | undefined }[] = []
  const watch = defineKind('watch', {
    payload: runEnding,
    on: [runCompleted, runFailed, runCanceled],
    async run({ event = 0, payload, owner }) {
      heard.push({ type: (await engine.events.find(event))?.type, payload, owner })
    },
  })
  let broken = true
  const page = defineKind('page', { run: () => fail(new Error('gone')) })
  const good = defineRun('good', { plan: () => done({ next: [page({}), page({})] }), finalize: () => {} })
  const bad = defineRun('bad', { plan: () => (broken ? fail(new Error('no plan')) : undefined) })
  const long = defineRun('long', { plan: () => done({ next: [page({}, { delay: '1h' }), page({}, { delay: '1h' })] }) })
  const engine: Engine = engines({ kinds: [watch, page], runs: [good, bad, long] })
  await engine.start()
  const ids = [
    await engine.runs.start(good({}, { owner: 'ann' })),
    await engine.runs.start(bad({})),
    await engine.runs.start(long({})),
  ].map(({ id }) => id)
  const [first = 0, second = 0, third = 0] = ids
  await eventually(async () => (await engine.runs.find(third))?.total === 3)
  expect(await engine.runs.cancel(third)).toBe('canceled')
  expect(await engine.runs.cancel(third)).toBe('not active')
  await idle(client)
  broken = false
  await engine.runs.retryFailed(second)
  await idle(client)
  const none = { owner: null, total: 1, succeeded: 0, failed: 0, canceled: 0 }
  const expected = [
    {
      type: 'run.completed',
      owner: 'ann',
      payload: { run: first, kind: 'good', owner: 'ann', total: 3, succeeded: 1, failed: 2, canceled: 0 },
    },
    { type: 'run.failed', owner: undefined, payload: { ...none, run: second, kind: 'bad', failed: 1 } },
    {
      type: 'run.canceled',
      owner: undefined,
      payload: { ...none, run: third, kind: 'long', total: 3, succeeded: 1, canceled: 2 },
    },
    { type: 'run.completed', owner: undefined, payload: { ...none, run: second, kind: 'bad', succeeded: 1 } },
  ]
  expect(heard).toHaveLength(expected.length)
  for (const one of expected) expect(heard).toContainEqual(one)
  const stored = (await engine.events.list()).map(({ type, run }) => `${type} ${run}`)
  expect(stored.toSorted()).toEqual(expected.map(({ type, payload }) => `${type} ${payload.run}`).toSorted())
})

test('[E-17] a subscriber whose job could never start fails that job, not the publisher and not the end of a run', async ({
  engines,
  client,
}) => {
  const heard: (number | undefined)[] = []
  const greedy = defineKind('greedy', { on: [told, runCompleted], lane: 'api', cost: 6, run: () => {} })
  const modest = defineKind('modest', { on: [told], lane: 'api', cost: 5, run: ({ event }) => void heard.push(event) })
  const plain = defineRun('plain', { plan: () => {} })
  const engine = engines({ kinds: [greedy, modest], runs: [plain], lanes: { api: { budget: { floor: 0, limit: 5 } } } })
  await engine.start()
  const { id } = await engine.publish(told({ n: 1 }))
  const run = await engine.runs.start(plain({}))
  await idle(client)
  expect(heard).toEqual([id])
  expect((await engine.runs.find(run.id))?.state).toBe('completed')
  const error = { code: 'COST_NEVER_FITS', message: expect.stringContaining('lane "api"') }
  expect(await engine.failed()).toMatchObject([
    { kind: 'greedy', event: id, payload: { n: 1 }, error },
    { kind: 'greedy', payload: { run: run.id }, error },
  ])
  expect((await engine.inspect.deadLetters()).items).toMatchObject([{ kind: 'greedy', error: expect.any(String), count: 2 }])
})

test('[E-17] jobs of subscribers do not count for the run of the publisher', async ({ engines, client }) => {
  const hear = defineKind('hear', { on: [told], run: () => fail(new Error('deaf')) })
  const run = defineRun('teller', { plan: () => done({ publish: [told({ n: 1 })] }) })
  const engine = engines({ kinds: [hear], runs: [run] })
  await engine.start()
  const { id } = await engine.runs.start(run({}))
  await idle(client)
  expect(await engine.runs.find(id)).toMatchObject({ state: 'completed', total: 1, succeeded: 1, failed: 0 })
  expect(await engine.events.list({ type: 'told' })).toMatchObject([{ run: id }])
})

test('[E-17] [E-24] events past keeping are forgotten, by the leader only', async ({ engines, client, database }) => {
  const engine = engines({ events: [told] })
  const [old, young] = [await engine.publish(told({ n: 1 })), await engine.publish(told({ n: 2 }))]
  await client.query(`update sluice.event set published_at = sluice.now() - interval '30 days 1 hour' where id = $1`, [old.id])
  await client.query(`update sluice.leader set term = 5, until = 'infinity'`)
  const connections = new Database({ url: database.url, poolMax: 2, prepare: true, log: silentLog })
  const prune = (term: number) =>
    new Pruner({ database: connections, clock: systemClock, log: silentLog, keepDays: 30, term: () => term }).runOnce()
  await prune(4)
  expect(await engine.events.list()).toHaveLength(2)
  await prune(5)
  expect((await engine.events.list()).map(({ id }) => id)).toEqual([young.id])
  await connections.close()
})

test('[E-17] the testing kit publishes and delivers, and sees a cycle', async ({ database }) => {
  const heard: number[] = []
  const hear = defineKind('hear', {
    payload: z.object({ n: z.number() }),
    on: [told],
    run({ payload: { n } }) {
      heard.push(n)
      return done({ publish: n > 0 && [told({ n: n - 1 })] })
    },
  })
  const silent = defineEvent('silent')
  const kit = await createTestKit({ database: database.url, kinds: [hear], events: [silent] })
  await kit.publish(told({ n: 2 }))
  await kit.publish(silent({}))
  expect((await kit.drain()).map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done'])
  expect(heard).toEqual([2, 1, 0])
  expect((await kit.events.list()).map(({ type }) => type)).toEqual(['told', 'told', 'silent', 'told'])
  await kit.publish(told({ n: 100 }))
  expect((await kit.drain()).at(-1)).toMatchObject({ outcome: 'failed', error: expect.stringContaining('17 events') })
  await kit.close()
})
