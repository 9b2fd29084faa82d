/** Dedupe between connections: whoever comes at the same time, there is one job, and everybody gets its id. */
import pg from 'pg'
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { serverWaits, withOnlooker } from '../../../../test/support/onlooker.ts'
import { defineKind } from './kind.ts'
import type { DedupeMode } from './request.ts'

const mail = defineKind('mail', { run: () => {} })
const connections = 8
const rounds = 20

test.for<DedupeMode>(['keep', 'replace', 'debounce', 'again'])(
  '[E-05] %s: concurrent enqueues of one key from eight connections make one job',
  async (mode, { engines, database }) => {
    const engine = engines({ kinds: [mail] })
    await engine.migrate()
    const clients = await connect(database.url)
    for (let round = 0; round < rounds; round++) {
      const key = `round ${round}`
      const made = await Promise.all(clients.map((client, n) => engine.enqueue(mail({ n }, { key, dedupe: mode }), { client })))
      expect(new Set(made.map(({ id }) => id)).size).toBe(1)
      expect(made.filter(({ created }) => created)).toHaveLength(1)
    }
    await Promise.all(clients.map((client) => client.end()))
  },
)

test('[E-05] concurrent enqueues within a unique window make one job', async ({ engines, database }) => {
  const engine = engines({ kinds: [mail] })
  await engine.migrate()
  const clients = await connect(database.url)
  for (let round = 0; round < rounds; round++) {
    const request = mail({}, { key: `round ${round}`, uniqueFor: '1h' })
    const made = await Promise.all(clients.map((client) => engine.enqueue(request, { client })))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(made.filter(({ created }) => created)).toHaveLength(1)
  }
  await Promise.all(clients.map((client) => client.end()))
})

test('[E-05] concurrent single enqueues of one process and one key are one job', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  const made = await Promise.all(Array.from({ length: 64 }, (_, n) => engine.enqueue(mail({ n }, { key: 'same' }))))
  expect(new Set(made.map(({ id }) => id)).size).toBe(1)
  expect(made.filter(({ created }) => created)).toHaveLength(1)
})

test('[E-05] a bulk that meets a key in somebody’s hands lets go of its own before it waits', async ({
  engines,
  client,
  database,
}) => {
  const keen = defineKind('keen', { dedupe: 'keep', run: () => {} })
  const engine = engines({ kinds: [keen] })
  await engine.migrate()
  await client.query('begin')
  const first = await engine.enqueue(keen({ n: 1 }), { client })
  // It has 2 and 3 in hand when it comes to 1, in this order because nothing sorts them.
  const bulk = engine.enqueueMany([keen({ n: 3 }), keen({ n: 2 }), keen({ n: 1 })])
  await withOnlooker(database.url, (onlooker) => serverWaits(onlooker, 'sluice.enqueue_alike('))
  // It gives up its own before it waits for long: no deadlock, and nobody has to find one out.
  expect(await engine.enqueue(keen({ n: 2 }), { client })).toMatchObject({ created: true })
  await client.query('commit')
  expect(await bulk).toEqual([
    { id: expect.any(Number), created: true },
    { id: expect.any(Number), created: false },
    { id: first.id, created: false },
  ])
})

test('[E-05] bulk enqueues that meet the same keys in different orders do not block each other for ever', async ({
  engines,
  database,
}) => {
  const engine = engines({ kinds: [mail] })
  await engine.migrate()
  const clients = await connect(database.url)
  const keys = Array.from({ length: 40 }, (_, n) => `k${n}`)
  for (let round = 0; round < 10; round++) {
    const made = await Promise.all(
      clients.map((client, n) => {
        const turned = [...keys.slice(n * 5), ...keys.slice(0, n * 5)]
        return engine.enqueueMany(
          turned.map((key) => mail({}, { key: `${round} ${key}` })),
          { client },
        )
      }),
    )
    expect(new Set(made.flat().map(({ id }) => id)).size).toBe(keys.length)
    expect(made.flat().filter(({ created }) => created)).toHaveLength(keys.length)
  }
  await Promise.all(clients.map((client) => client.end()))
})

test('[E-05] whoever meets a key of an open transaction waits for it, and gets the job if and only if it commits', async ({
  engines,
  database,
  client,
}) => {
  const engine = engines({ kinds: [mail] })
  await engine.migrate()
  for (const end of ['commit', 'rollback']) {
    const other = new pg.Client(database.url)
    await other.connect()
    await client.query('begin')
    const first = await engine.enqueue(mail({}, { key: end }), { client })
    const second = engine.enqueue(mail({}, { key: end }), { client: other })
    const waits = 'select from pg_locks where not granted and pid = $1'
    await eventually(async () => (await client.query(waits, [backendOf(other)])).rowCount === 1)
    await client.query(end)
    const { id, created } = await second
    expect({ same: id === first.id, created }).toEqual(
      end === 'commit' ? { same: true, created: false } : { same: false, created: true },
    )
    await other.end()
  }
})

/** node-postgres knows the process of its connection, its types do not. */
function backendOf(client: pg.Client): number | undefined {
  return (client as unknown as { processID?: number }).processID
}

async function connect(url: string): Promise<pg.Client[]> {
  const clients = Array.from({ length: connections }, () => new pg.Client(url))
  await Promise.all(clients.map((client) => client.connect()))
  return clients
}
