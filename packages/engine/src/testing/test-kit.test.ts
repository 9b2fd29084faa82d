/** The kit for users' tests: jobs run inline on a real database, the clock is turned by hand, and everything else is as in production. */
import { expect } from 'vitest'
import { z } from 'zod'
import { test } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'
import { done, fail, type Outcome } from '../job/outcome.ts'
import { delays } from '../job/retry.ts'
import { createTestKit } from './test-kit.ts'

test('[E-28] drain runs what is ready, children included, and tells what ran in order', async ({ database }) => {
  const leaf = defineKind('leaf', { run: () => {} })
  const tree = defineKind('tree', {
    payload: z.object({ depth: z.number() }),
    run: ({ payload }): Outcome => done({ next: payload.depth > 1 ? [tree({ depth: payload.depth - 1 })] : [leaf({})] }),
  })
  const kit = await createTestKit({ database: database.url, kinds: [tree, leaf] })
  await kit.enqueue(tree({ depth: 3 }))
  expect((await kit.drain()).map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
    'tree done',
    'tree done',
    'tree done',
    'leaf done',
  ])
  expect(await kit.drain()).toEqual([])
  await kit.close()
})

test('[E-28] advance turns the clock, so that delayed jobs and retries fall due at once', async ({ database }) => {
  const flaky = defineKind('flaky', {
    retry: delays(['1h']),
    run: ({ attempt }) => (attempt === 1 ? Promise.reject(new Error('x')) : done()),
  })
  const kit = await createTestKit({ database: database.url, kinds: [flaky] })
  await kit.enqueue(flaky({}, { delay: '7d' }))
  expect(await kit.drain()).toEqual([])
  await kit.advance('7d')
  expect(await kit.drain()).toMatchObject([{ attempt: 1, outcome: 'retry', error: 'x' }])
  await kit.advance('1h')
  expect(await kit.drain()).toMatchObject([{ attempt: 2, outcome: 'done', error: undefined }])
  await kit.close()
})

test('[E-28] a year can pass: the ledger makes its days by itself', async ({ database }) => {
  const job = defineKind('job', { run: () => {} })
  const kit = await createTestKit({ database: database.url, kinds: [job] })
  const made = await kit.enqueue(job({}, { delay: '365d' }))
  await kit.advance('365d')
  expect(await kit.drain()).toHaveLength(1)
  expect((await kit.find(made.id))?.finishedAt?.getTime()).toBeGreaterThan(Date.now() + 364 * 86_400_000)
  await kit.close()
})

test('[E-28] services are handed to the handler, and what it writes commits with the end of the job', async ({
  database,
  client,
}) => {
  await client.query('create table greeting (text text)')
  const greet = defineKind('greet', {
    payload: z.object({ name: z.string() }),
    run: ({ payload }, { hello }: { hello: (name: string) => string }) =>
      done({ write: (tx) => tx.query('insert into greeting values ($1)', [hello(payload.name)]) }),
  })
  const kit = await createTestKit({
    database: database.url,
    kinds: [greet],
    services: { hello: (name: string) => `Hello, ${name}` },
  })
  await kit.enqueue(greet({ name: 'Ann' }))
  await kit.drain()
  expect((await client.query('select text from greeting')).rows).toEqual([{ text: 'Hello, Ann' }])
  await kit.close()
})

test('[E-28] the kit refuses what the engine refuses', async ({ database }) => {
  const strict = defineKind('strict', { payload: z.object({ n: z.number() }), run: () => {} })
  const kit = await createTestKit({ database: database.url, kinds: [strict] })
  await expect(kit.enqueue(strict({ n: 'one' as never }))).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
  await expect(kit.enqueue({ kind: 'stranger', payload: {} })).rejects.toMatchObject({ code: 'UNKNOWN_KIND' })
  await kit.close()
})

test('[E-28] jobs in a pool of the caller’s choice are drained as well', async ({ database }) => {
  const job = defineKind('job', { run: () => {} })
  const kit = await createTestKit({ database: database.url, kinds: [job] })
  await kit.enqueueMany([job({}, { pool: 'special' }), job({})])
  expect(await kit.drain()).toHaveLength(2)
  await kit.close()
})

test('[E-28] jobs of kinds that the kit does not know are left alone', async ({ database, engines }) => {
  const mine = defineKind('mine', { run: () => {} })
  const theirs = defineKind('theirs', { run: () => {} })
  const engine = engines({ kinds: [theirs] })
  const { id } = await engine.enqueue(theirs({}))
  const kit = await createTestKit({ database: database.url, kinds: [mine] })
  await kit.enqueue(mine({}))
  expect(await kit.drain()).toMatchObject([{ kind: 'mine' }])
  expect(await engine.find(id)).toMatchObject({ state: 'ready', attempt: 0 })
  await kit.close()
})

test('[E-28] a job that enqueues itself for ever is stopped with an error that says so', async ({ database }) => {
  const endless = defineKind('endless', { run: (): Outcome => done({ next: [endless({})] }) })
  const kit = await createTestKit({ database: database.url, kinds: [endless] })
  await kit.enqueue(endless({}))
  await expect(kit.drain({ max: 20 })).rejects.toThrow(/gave up with a job of "[^"]+" left, for 20 have run/)
  await kit.close()
})

test('[E-28] a failed job is found with its error', async ({ database }) => {
  const bad = defineKind('bad', { run: () => fail(new Error('no')) })
  const kit = await createTestKit({ database: database.url, kinds: [bad] })
  const made = await kit.enqueue(bad({}))
  expect(await kit.drain()).toMatchObject([{ outcome: 'failed', error: 'no' }])
  expect(await kit.find(made.id)).toMatchObject({ state: 'failed', error: { message: 'no' } })
  expect(await kit.find(4711)).toBeUndefined()
  await kit.close()
})

test('[E-28] a kit that is closed gives its database back: whoever comes next can lead', async ({ database, client }) => {
  const kit = await createTestKit({ database: database.url, kinds: [] })
  await kit.drain()
  await kit.close()
  const { rows } = await client.query(`select worker, until < sluice.now() as over from sluice.leader`)
  expect(rows).toEqual([{ worker: null, over: true }])
})
