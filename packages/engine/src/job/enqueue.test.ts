/** Enqueue joins the caller's transaction, whatever speaks to the database; single enqueues of the same moment share a commit. */
import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { expect, vi } from 'vitest'
import { z } from 'zod'
import { test } from '../../../../test/support/database.ts'
import type { QueryClient } from '../postgres/client.ts'
import { defineKind } from './kind.ts'
import { done } from './outcome.ts'
import { once } from './retry.ts'

const mail = defineKind('mail', { payload: z.object({ n: z.number() }), run: () => {} })
const countJobs = async (client: pg.Client): Promise<number> => (await client.query('select from sluice.job')).rowCount ?? 0

test('[E-02] a job enqueued in a transaction is there when it commits, and seen by nobody before', async ({
  engines,
  client,
  database,
}) => {
  const engine = engines({ kinds: [mail] })
  const mine = new pg.Client(database.url)
  await mine.connect()
  await mine.query('begin')
  const { id } = await engine.enqueue(mail({ n: 1 }), { client: mine })
  expect(await countJobs(client)).toBe(0)
  expect(await engine.find(id)).toBeUndefined()
  await mine.query('commit')
  expect(await engine.find(id)).toMatchObject({ state: 'ready', payload: { n: 1 } })
  await mine.end()
})

test('[E-02] a rolled-back transaction leaves no job, of one enqueue or of many', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  await engine.migrate()
  await client.query('begin')
  await engine.enqueue(mail({ n: 1 }), { client })
  await engine.enqueueMany([mail({ n: 2 }), mail({ n: 3 })], { client })
  expect(await countJobs(client)).toBe(3)
  await client.query('rollback')
  expect(await countJobs(client)).toBe(0)
})

test('[E-02] a savepoint that is rolled back takes its jobs along and no others', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  await engine.migrate()
  await client.query('begin')
  const kept = await engine.enqueue(mail({ n: 1 }), { client })
  await client.query('savepoint s')
  await engine.enqueue(mail({ n: 2 }), { client })
  await client.query('rollback to s')
  await client.query('commit')
  expect((await client.query('select id::int from sluice.job')).rows).toEqual([{ id: kept.id }])
})

test('[E-02] a client of a pool works like a connection of one’s own', async ({ engines, client, database }) => {
  const engine = engines({ kinds: [mail] })
  const pool = new pg.Pool({ connectionString: database.url })
  const mine = await pool.connect()
  await mine.query('begin')
  await engine.enqueue(mail({ n: 1 }), { client: mine })
  await mine.query('rollback')
  mine.release()
  await pool.end()
  expect(await countJobs(client)).toBe(0)
})

test('[E-02] anything that has query(text, values) can carry an enqueue', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  const sent: unknown[][] = []
  const foreign: QueryClient = {
    async query(text, values) {
      sent.push([text, values])
      const { rows } = await client.query(text, values)
      // Drivers differ in what they make of a bigint.
      return { rows: rows.map((row) => ({ ...row, ids: row.ids.map(BigInt) })) }
    },
  }
  const { id, created } = await engine.enqueue(mail({ n: 1 }), { client: foreign })
  expect(sent).toHaveLength(1)
  expect({ id, created }).toEqual({ id: expect.any(Number), created: true })
  expect(await engine.find(id)).toMatchObject({ payload: { n: 1 } })
  const many = await engine.enqueueMany([mail({ n: 2 }), mail({ n: 3 })], { client: foreign })
  expect(sent).toHaveLength(2)
  expect(many).toEqual([2, 3].map(() => ({ id: expect.any(Number), created: true })))
})

test('[E-02] a bulk that nobody waits for goes with the transaction that it was sent in, also when a key is taken', async ({
  engines,
  client,
}) => {
  const keen = defineKind('keen', { dedupe: 'keep', run: () => {} })
  const engine = engines({ kinds: [keen] })
  const { id } = await engine.enqueue(keen({ n: 1 }))
  await client.query('begin')
  const bulk = engine.enqueueMany([keen({ n: 1 }), keen({ n: 2 })], { client })
  await setImmediate() // it is on its way, and not back
  await client.query('rollback')
  expect(await bulk).toMatchObject([{ id, created: false }, { created: true }])
  expect(await countJobs(client)).toBe(1)
})

test('[E-02] plain SQL enqueues in its own transaction, with the defaults of the kind', async ({ engines, client }) => {
  const urgent = defineKind('urgent', { pool: 'heavy', priority: 7, run: () => {} })
  const engine = engines({ kinds: [urgent] })
  await engine.migrate()
  await client.query('begin')
  await client.query(`select sluice.enqueue('urgent', '{"n": 1}')`)
  await client.query('rollback')
  expect(await countJobs(client)).toBe(0)
  const { rows } = await client.query(
    `select id::int, created from sluice.enqueue('urgent', '{"n": 2}', delay => '1 hour', owner => 'ann')`,
  )
  expect(rows).toEqual([{ id: expect.any(Number), created: true }])
  expect(await engine.find(rows[0].id)).toMatchObject({
    state: 'scheduled',
    pool: 'heavy',
    priority: 7,
    maxAttempts: 5,
    owner: 'ann',
    payload: { n: 2 },
  })
})

test('[E-02] bulk gives the ids in the order of the requests, and says which are new', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  const old = await engine.enqueue(mail({ n: -1 }, { key: 'old' }))
  const requests = Array.from({ length: 1_000 }, (_, n) =>
    mail({ n }, n === 500 ? { key: 'old' } : n % 3 === 0 ? { priority: 5 } : {}),
  )
  const made = await engine.enqueueMany(requests)
  expect(made.filter(({ created }) => !created)).toEqual([{ id: old.id, created: false }])
  expect(made[500]?.id).toBe(old.id)
  const { rows } = await client.query(`select id::int, (payload -> 'n')::int as n from sluice.job where id <> $1`, [old.id])
  for (const { id, n } of rows) expect(made[n]?.id).toBe(id)
  const ids = made.filter(({ created }) => created).map(({ id }) => id)
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
})

test('[E-02] bulk is all or nothing', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  const stranger = { kind: 'stranger', payload: {} }
  await expect(engine.enqueueMany([mail({ n: 1 }), stranger])).rejects.toMatchObject({ code: 'UNKNOWN_KIND' })
  expect(await countJobs(client)).toBe(0)
  expect(await engine.enqueueMany([])).toEqual([])
})

test('single enqueues of the same moment share a commit, and each caller gets the id of its own job', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [mail] })
  await engine.migrate()
  const made = await Promise.all(Array.from({ length: 64 }, (_, n) => engine.enqueue(mail({ n }))))
  const { rows } = await client.query(`select id::int, (payload -> 'n')::int as n, xmin::text as transaction from sluice.job`)
  expect(rows).toHaveLength(64)
  for (const { id, n } of rows) expect(made[n]).toEqual({ id, created: true })
  expect(new Set(rows.map(({ transaction }) => transaction)).size).toBeLessThanOrEqual(8)
})

test('a lone enqueue waits for nobody: it is a transaction of its own', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  for (let n = 0; n < 3; n++) await engine.enqueue(mail({ n }))
  const { rows } = await client.query('select distinct xmin::text from sluice.job')
  expect(rows).toHaveLength(3)
})

test('[E-02] a kind can be enqueued by its name from a process that does not define it', async ({ engines }) => {
  await engines({ kinds: [mail] }).migrate()
  const stranger = engines()
  const { id } = await stranger.enqueue({ kind: 'mail', payload: { n: 1 }, options: { delay: '1h' } })
  expect(await stranger.find(id)).toMatchObject({ kind: 'mail', state: 'scheduled' })
})

test('an engine that was stopped enqueues nothing and says so', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  await engine.stop()
  await expect(engine.enqueue(mail({ n: 1 }))).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
})

test('[E-02] of many jobs the bad one is named by its place, and so is a bad child of a handler', async ({ engines, client }) => {
  const call = defineKind('call', { payload: z.object({ tenant: z.string() }), run: () => {} })
  const parent = defineKind('parent', {
    retry: once,
    run: () =>
      done({ next: [call({ tenant: 'ada' }), { kind: 'call', payload: { tenant: 'bob' }, options: { priority: 5000 } }] }),
  })
  const engine = engines({ kinds: [call, parent] })
  const good = { kind: 'call', payload: { tenant: 'ada' } }
  await expect(engine.enqueueMany([good, good, { kind: 'call', payload: { tenant: 1 } }])).rejects.toMatchObject({
    code: 'INVALID_PAYLOAD',
    message: expect.stringMatching(/^jobs\[2\]: The payload of "call".*tenant: /),
    details: { place: 'jobs[2]', kind: 'call' },
  })
  await expect(engine.enqueueMany([good, { ...good, options: { priority: 5000 } }])).rejects.toThrow(
    /^jobs\[1\]: Option priority: /,
  )
  expect(await countJobs(client)).toBe(0)
  await engine.enqueue(parent({}))
  await engine.start()
  await vi.waitFor(async () => {
    expect(await engine.failed()).toMatchObject([
      { kind: 'parent', error: { message: expect.stringMatching(/^next\[1\]: Option priority: /) } },
    ])
  })
})

test('[E-01] a kind that is only named is asked if this process defines it: bad payloads are refused, its lane and cost count', async ({
  engines,
  client,
}) => {
  const call = defineKind('call', {
    payload: z.object({ tenant: z.string() }),
    lane: ({ payload }) => `api:${payload.tenant}`,
    cost: 2,
    run: () => {},
  })
  const [knows, elsewhere] = [engines({ kinds: [call] }), engines({})]
  await expect(knows.enqueue({ kind: 'call', payload: {} })).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
  await expect(knows.enqueueMany([{ kind: 'call', payload: { tenant: 1 } }])).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
  expect(await countJobs(client)).toBe(0)
  await knows.enqueue({ kind: 'call', payload: { tenant: 'ada' } })
  const { rows } = await client.query('select lane, cost from sluice.job')
  expect(rows).toEqual([{ lane: 'api:ada', cost: 2 }])
  // Whoever does not define it leaves the check to whoever runs it.
  await elsewhere.enqueue({ kind: 'call', payload: {}, options: { lane: 'api:bob' } })
  expect(await countJobs(client)).toBe(2)
})

test('[E-12] [E-05] whoever cannot ask a kind gives what its functions would answer, or is refused: no job slips past its lane, cost or key', async ({
  engines,
  client,
}) => {
  const call = defineKind('call', {
    payload: z.object({ page: z.number() }),
    lane: ({ owner }) => owner && `api:${owner}`,
    cost: ({ page }) => page,
    dedupe: 'keep',
    key: ({ page }) => `page ${page}`,
    run: () => {},
  })
  const [knows, elsewhere] = [engines({ kinds: [call] }), engines({})]
  await knows.enqueue(call({ page: 1 })) // its function says: no lane
  const refused = (field: string) => ({
    code: 'INVALID_OPTION',
    message: expect.stringContaining(`works out the ${field} of each job in its program: give \`${field}\``),
  })
  const named = (options: object = {}) => ({ kind: 'call', payload: { page: 1 }, options })
  await expect(elsewhere.enqueue({ kind: 'call', payload: { page: 1 } })).rejects.toMatchObject(refused('lane'))
  await expect(elsewhere.enqueueMany([named(), named()])).rejects.toMatchObject(refused('lane'))
  await expect(elsewhere.enqueue(named({ lane: 'api:ada' }))).rejects.toMatchObject(refused('cost'))
  await expect(elsewhere.enqueue(named({ lane: 'api:ada', cost: 1 }))).rejects.toMatchObject(refused('key'))
  await expect(client.query(`select sluice.enqueue('call', '{"page": 1}', owner => 'ada')`)).rejects.toMatchObject({
    code: 'SL002',
    message: refused('lane').message,
  })
  expect(await countJobs(client)).toBe(1)
  expect(await elsewhere.enqueue(named({ lane: 'api:ada', cost: 1, key: 'page 1' }))).toMatchObject({ created: false })
  await elsewhere.enqueue(named({ lane: 'api:ada', cost: 1, dedupe: 'none' }))
  await client.query(`select sluice.enqueue('call', '{"page": 2}', lane => 'api:ada', cost => 2, key => 'page 2')`)
  const { rows } = await client.query('select lane, cost, key from sluice.job order by id')
  expect(rows).toEqual([
    { lane: '', cost: 1, key: 'call/page 1' },
    { lane: 'api:ada', cost: 1, key: null },
    { lane: 'api:ada', cost: 2, key: 'call/page 2' },
  ])
})
