/** A key in somebody's open transaction: whoever wants that key waits for it, and nobody else does. */
import pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { test as base, eventually } from '../../../../test/support/database.ts'
import { serverWaits, withOnlooker } from '../../../../test/support/onlooker.ts'
import { defineKind } from './kind.ts'
import { done } from './outcome.ts'

/** Somebody with an open transaction. */
const test = base.extend<{ stranger: pg.Client }>({
  stranger: async ({ database }, use) => {
    const stranger = new pg.Client(database.url)
    await stranger.connect()
    await stranger.query('begin')
    await use(stranger)
    await stranger.end()
  },
})

const numbered = z.object({ n: z.number() })
const keyed = defineKind('keyed', { dedupe: 'keep', payload: numbered, run: () => {} })

test.for(['an audit', 'a hand-back'] as const)(
  '[E-05] [E-11] %s waits for no stranger who is taking the key of a job that goes back, and both jobs run',
  async (way, { engines, client, stranger }) => {
    const put = defineKind('put', { dedupe: 'replace', key: () => 'k', payload: numbered, run: () => {} })
    const engine = engines({ kinds: [put] })
    const { id } = await engine.enqueue(put({ n: 1 }))
    await client.query(`insert into sluice.worker (id, name, lease_until) values (1000, 'w', 'infinity')`)
    const claim = await client.query(`select fence from sluice.claim('light', 1000, 1, -9007199254740991, '{}')`) // it lets the key go
    const younger = await engine.enqueue(put({ n: 2 }), { client: stranger })
    expect(younger).toEqual({ id: expect.any(Number), created: true })

    await client.query(`set statement_timeout = '10s'`)
    if (way === 'an audit') await client.query(`select from sluice.audit(1000, '{}')`)
    else
      await client.query(
        `select from sluice.settle(1000, $1, $2, '{handed back}', '{null}', '{null}', '{null}', '{null}', null, true)`,
        [[id], [claim.rows[0].fence]],
      )
    expect(await engine.find(id)).toMatchObject({ state: 'ready', attempt: 0 })
    await stranger.query('commit')
    expect(await engine.enqueue(put({ n: 3 }))).toEqual({ id: younger.id, created: false })
    const { rows } = await client.query('select id::int, payload from sluice.job order by id')
    expect(rows).toEqual([
      { id, payload: { n: 1 } },
      { id: younger.id, payload: { n: 3 } },
    ])
  },
)

test('[E-05] [E-21] a follower whose key a stranger is taking keeps neither other followers nor a kind that goes on waiting', async ({
  engines,
  client,
  stranger,
}) => {
  const sync = defineKind('sync', { dedupe: 'again', payload: numbered, run: () => {} })
  const other = defineKind('other', { run: () => {} })
  const engine = engines({ kinds: [sync, other] })
  const { id } = await engine.enqueue(other({}))
  await engine.pause({ scope: 'kind', name: 'other' })
  // Two that waited for the end of another, and that its settle has missed.
  const [met, free] = await engine.enqueueMany([sync({ n: 1 }), sync({ n: 2 })])
  await client.query(
    `update sluice.job set after_key = key, key = null, shelf = 'scheduled', run_at = 'infinity' where kind = 'sync'`,
  )
  await engine.enqueue(sync({ n: 1 }), { client: stranger })

  await engine.start()
  await eventually(async () => (await engine.find(free!.id))?.state === 'succeeded')
  expect(await engine.find(id)).toMatchObject({ state: 'paused' })
  await engine.resume({ scope: 'kind', name: 'other' })
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  expect(await engine.find(met!.id)).toMatchObject({ state: 'scheduled' })
  await stranger.query('rollback')
  await eventually(async () => (await engine.find(met!.id))?.state === 'succeeded')
})

test.for([
  ['commits', 'commit'],
  ['rolls back', 'rollback'],
] as const)(
  '[E-02] [E-05] enqueues that wait for a stranger’s key hold up no others, and are answered when it %s',
  async ([, end], { engines, client, stranger }) => {
    const plain = defineKind('plain', { run: () => {} })
    const engine = engines({ kinds: [keyed, plain] })
    await engine.migrate()
    const theirs = await engine.enqueue(keyed({ n: 1 }), { client: stranger })
    // One by one, in groups of one kind and of several, with and without options: more than there are connections.
    const waiting = [engine.enqueue(keyed({ n: 1 }))]
    await engine.enqueue(plain({}))
    const beside = Array.from({ length: 40 }, (_, n) => {
      waiting.push(engine.enqueue(n % 3 === 0 ? keyed({ n: 1 }, { priority: 1 }) : keyed({ n: 1 })))
      return engine.enqueue(n % 2 === 0 ? plain({}) : keyed({ n: n + 2 }))
    })
    let answered = 0
    for (const one of waiting) void one.then(() => answered++)
    const stored = await Promise.all(beside)
    expect(stored.every(({ created }) => created)).toBe(true)
    expect(await engine.enqueue(plain({}))).toMatchObject({ created: true })
    await expect(engine.enqueue({ kind: 'nobody.knows', payload: {} })).rejects.toMatchObject({ code: 'UNKNOWN_KIND' })
    await engine.transaction((tx) => tx.query('select 1')) // they leave room in the pool
    expect(answered).toBe(0)

    await stranger.query(end)
    const got = await Promise.all(waiting)
    expect(new Set(got.map(({ id }) => id)).size).toBe(1)
    expect(got[0]!.id === theirs.id).toBe(end === 'commit')
    expect(got.filter(({ created }) => created)).toHaveLength(end === 'commit' ? 0 : 1)
    const { rows } = await client.query(`select count(*)::int as jobs from sluice.job where kind = 'keyed'`)
    expect(rows).toEqual([{ jobs: 21 }])
  },
)

test('[E-02] a bad member of a group fails only its caller, also where others wait for a stranger’s key', async ({
  engines,
  stranger,
}) => {
  const engine = engines({ kinds: [keyed] })
  await engine.migrate()
  await engine.enqueue(keyed({ n: 1 }), { client: stranger })
  const waiting = [1, 1, 1].map((n) => engine.enqueue(keyed({ n })))
  const bad = engine.enqueue({ kind: 'nobody.knows', payload: {} })
  const good = engine.enqueue(keyed({ n: 2 }))
  await expect(bad).rejects.toMatchObject({ code: 'UNKNOWN_KIND' })
  expect(await good).toMatchObject({ created: true })
  await stranger.query('rollback')
  expect((await Promise.all(waiting)).filter(({ created }) => created)).toHaveLength(1)
})

test('[E-02] [E-05] bulks that wait for a stranger’s key leave connections to jobs that write, and are answered when he lets go', async ({
  engines,
  stranger,
}) => {
  const writes = defineKind('writes', { run: () => done({ write: (tx) => tx.query('select 1') }) })
  const engine = engines({ kinds: [keyed, writes], pools: {}, poolMax: 6 })
  const worker = engines({ kinds: [writes], poolMax: 6 })
  await engine.migrate()
  const theirs = await engine.enqueue(keyed({ n: 1 }), { client: stranger })
  const bulks = Array.from({ length: 12 }, (_, n) => engine.enqueueMany([keyed({ n: 1 }), keyed({ n: n + 2 })]))
  await worker.start()
  for (let n = 0; n < 3; n++) await engine.transaction((tx) => engine.enqueue(writes({}), { client: tx }))
  const { id } = await engine.enqueue(writes({}))
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  expect(await engine.enqueueMany([keyed({ n: 100 }), keyed({ n: 101 })])).toMatchObject([{ created: true }, { created: true }])
  await stranger.query('commit')
  for (const [first, second] of await Promise.all(bulks)) {
    expect(first).toEqual({ id: theirs.id, created: false })
    expect(second).toMatchObject({ created: true })
  }
})

test('[E-05] whose key is free again is answered, although others wait for keys that are not', async ({
  engines,
  client,
  database,
  stranger,
}) => {
  const engine = engines({ kinds: [keyed] })
  await engine.migrate()
  for (let n = 0; n < 12; n++) await engine.enqueue(keyed({ n }), { client: stranger })
  await client.query('begin')
  await engine.enqueue(keyed({ n: 100 }), { client })
  let answered = 0
  const waiting = Array.from({ length: 12 }, (_, n) => engine.enqueue(keyed({ n })))
  for (const one of waiting) void one.then(() => answered++)
  const brief = engine.enqueue(keyed({ n: 100 }))
  await withOnlooker(database.url, (onlooker) => serverWaits(onlooker, 'sluice.enqueue_alike', 2))
  await client.query('rollback')
  expect(await brief).toMatchObject({ created: true })
  expect(answered).toBe(0)
  await stranger.query('rollback')
  expect((await Promise.all(waiting)).every(({ created }) => created)).toBe(true)
})

test('[E-23] [E-02] what was asked for before a stop is stored, and what waits for a stranger’s key is told that the process leaves', async ({
  engines,
  database,
  stranger,
}) => {
  const engine = engines({ kinds: [keyed] })
  await engine.migrate()
  await engine.enqueue(keyed({ n: 0 }), { client: stranger })
  const held = expect(engine.enqueue(keyed({ n: 0 }))).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  await withOnlooker(database.url, (onlooker) => serverWaits(onlooker, 'sluice.enqueue_alike'))
  const many = Array.from({ length: 3_000 }, (_, n) => engine.enqueue(keyed({ n: n + 1 })))
  const bulks = Array.from({ length: 30 }, (_, n) =>
    engine.enqueueMany([keyed({ n: 2 * n + 4_000 }), keyed({ n: 2 * n + 4_001 })]),
  )
  await new Promise((resolve) => setImmediate(resolve)) // each has found that the engine is prepared
  await engine.stop()
  const stored = [...(await Promise.all(many)), ...(await Promise.all(bulks)).flat()]
  expect(stored.filter(({ created }) => created)).toHaveLength(3_060)
  await held
})
