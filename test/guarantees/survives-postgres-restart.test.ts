/**
 * PostgreSQL goes away and comes back, in order or killed, under load: every process goes on by itself, says meanwhile that it is not ready and
 * why, and nothing is lost or doubled.
 */
import { createEngine, defineKind, defineRun, done, type Engine, type EngineOptions, migrate, silentLog } from '@sluice/engine'
import { startTestServer, type TestDatabase, type TestServer } from '@sluice/local-postgres/testing'
import { afterAll, test as base, beforeAll, expect } from 'vitest'
import { z } from 'zod'
import { effectTable, stepBoth, stepKinds, stepNext, stepPlain, stepWrite } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { type Look, lookAt } from '../support/look.ts'
import { type Program, startProgram } from '../support/processes.ts'
import { drained, nothingWrong, tally } from '../support/tally.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ prepare: async (url) => void (await migrate(url)) })
})
afterAll(() => server.stop())

interface Fixtures {
  database: TestDatabase
  /** Connections do not outlive the server, so each look has one of its own. */
  look: Look
  engines: (options: Partial<EngineOptions>) => Engine
  workers: (count: number) => Promise<Program[]>
}

const test = base.extend<Fixtures>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  database: async ({}, use) => {
    const database = await server.createDatabase()
    await use(database)
    await database.drop()
  },
  look: async ({ database }, use) => {
    await use(lookAt(database.url))
  },
  engines: async ({ database }, use) => {
    const made: Engine[] = []
    await use((options) => {
      made.push(createEngine({ database: database.url, log: silentLog, grace: '2s', ...options }))
      return made.at(-1) as Engine
    })
    await Promise.all(made.map((engine) => engine.stop()))
  },
  workers: async ({ database }, use) => {
    const started: Program[] = []
    await use(async (count) => {
      const settings = { database: database.url, lease: '4s', workMs: 30, quiet: true }
      started.push(...Array.from({ length: count }, () => startProgram('step-worker', settings)))
      for (const one of started) await one.hears('worker')
      return started
    })
    for (const one of started) if (one.alive) one.signal('SIGKILL')
    await Promise.all(started.map((one) => one.ended))
  },
})

const blows: [name: string, fall: () => Promise<void>][] = [
  ['restarted', () => server.restart()],
  ['killed and started again', () => server.kill9().then(() => server.restart())],
]

test.for(blows)(
  '[E-27] the server is %s twice under load: all processes go on, nothing is lost or doubled',
  async ([_name, fall], { look, engines, workers }) => {
    await look((client) => client.query(effectTable))
    const boss = engines({ kinds: stepKinds, pools: {}, lease: '4s' })
    await boss.start()
    const kinds = [stepPlain, stepWrite, stepNext, stepBoth]
    const load = async (count: number) => {
      const enqueued = await boss.enqueueMany(Array.from({ length: count }, (_, n) => kinds[n % kinds.length]!({ n })))
      return enqueued.map(({ id }) => id)
    }
    const done = () => look(async (client) => (await client.query('select from sluice.job_ledger')).rowCount as number)
    const acknowledged = await load(600)
    const processes = await workers(3)
    for (const share of [100, 500]) {
      await eventually(async () => (await done()) >= share)
      await fall()
    }
    const since = await look(async (client) => (await client.query<{ at: Date }>('select now() as at')).rows[0]!.at)
    await eventually(() => boss.status().ready)
    acknowledged.push(...(await load(100)))
    await look((client) => drained(client, 60_000))
    expect(await look((client) => tally(client, acknowledged))).toEqual(nothingWrong)

    expect(processes.map((one) => one.alive)).toEqual([true, true, true])
    const pids = processes.map((one) => one.pid).toSorted((a, b) => a - b)
    const beating = `select split_part(name, ':', 2)::int as pid from sluice.worker where beat_at > $1 and pools <> '{}' order by 1`
    await eventually(async () => {
      const { rows } = await look((client) => client.query<{ pid: number }>(beating, [since]))
      return JSON.stringify(rows.map(({ pid }) => pid)) === JSON.stringify(pids)
    })
  },
)

const gated = (ran: number[]) => {
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const kind = defineKind('gated', {
    payload: z.looseObject({}),
    run: async ({ id }) => {
      ran.push(id)
      await gate
      return done({ write: (tx) => tx.query('insert into effect (job, kind) values ($1, $2)', [id, 'gated']), next: [leaf({})] })
    },
  })
  const leaf = defineKind('leaf', { run: () => {} })
  return { kind, leaf, open: () => open() }
}

test('[E-27] the status says that the server is away, and that it is back', async ({ engines }) => {
  const engine = engines({ lease: '5m' })
  await engine.start()
  await eventually(() => engine.status().wakeUps === 'notifications')
  expect(engine.status()).toMatchObject({ ready: true, problems: [] })
  await server.kill9()
  // Long before the next heartbeat is due: the connection that carries it has ended.
  await eventually(() => !engine.status().ready)
  expect(engine.status()).toMatchObject({ ready: false, problems: ['PostgreSQL does not answer the heartbeat'] })
  await server.restart()
  await eventually(() => engine.status().ready)
  await eventually(() => engine.status().wakeUps === 'notifications')
  expect(engine.status().problems).toEqual([])
})

/** How often a write is tried again that failed by its own doing. */
const ownTriesMax = 12

test('[E-27] a settle that failed because the server was away is tried again from memory, while the lease holds: the job ran once', async ({
  engines,
  look,
}) => {
  await look((client) => client.query(effectTable))
  const ran: number[] = []
  const { kind, leaf, open } = gated(ran)
  let again = 0
  const log = { ...silentLog, warn: (event: string) => void (event === 'settle is tried again' && again++) }
  const engine = engines({ kinds: [kind, leaf], lease: '40s', log })
  await engine.start()
  const jobs = await engine.enqueueMany([kind({}), kind({})])
  await eventually(() => ran.length === 2)
  // Claims are committed lazily and a crash may undo them; this is about the settle, so they are made safe first.
  await look((client) => client.query('checkpoint'))
  await server.kill9()
  open()
  await eventually(() => again > 2 * ownTriesMax)
  await server.restart()
  for (const { id } of jobs) {
    await eventually(async () => (await engine.find(id).catch(() => undefined))?.state === 'succeeded')
    expect(await engine.attempts(id)).toMatchObject([{ attempt: 1, outcome: 'succeeded' }])
  }
  expect(ran).toHaveLength(2)
  await look(async (client) => {
    expect((await client.query('select from effect')).rowCount).toBe(2)
    await eventually(async () => (await client.query(`select from sluice.job_ledger where kind = 'leaf'`)).rowCount === 2)
  })
})

test('[E-27] the server is away for longer than the lease: the process comes back, and the effect is there once', async ({
  engines,
  look,
}) => {
  await look((client) => client.query(effectTable))
  const ran: number[] = []
  const { kind, leaf, open } = gated(ran)
  const engine = engines({ kinds: [kind, leaf], lease: '1s' })
  await engine.start()
  const { id } = await engine.enqueue(kind({}))
  await eventually(() => ran.length === 1)
  await server.kill9()
  open()
  await eventually(() => engine.status().problems.length > 0)
  const awaySinceMs = performance.now()
  await eventually(() => performance.now() - awaySinceMs > 1_500)
  await server.restart()
  await eventually(async () => (await engine.find(id).catch(() => undefined))?.state === 'succeeded')
  await look(async (client) => {
    expect((await client.query('select from effect')).rowCount).toBe(1)
    expect((await client.query(`select from sluice.job_ledger where kind = 'gated'`)).rowCount).toBe(1)
    await eventually(async () => (await client.query(`select from sluice.job_ledger where kind = 'leaf'`)).rowCount === 1)
  })
  await eventually(() => engine.status().ready)
})

test('[E-27] what is asked of an engine meanwhile fails with a reason and works again afterwards', async ({ engines }) => {
  const note = defineKind('note', { run: () => {} })
  const nightly = defineRun('nightly', { plan: () => {} })
  const [enqueuing, starting] = [engines({ kinds: [note], runs: [nightly] }), engines({ kinds: [note] })]
  await enqueuing.enqueue(note({}))
  await server.kill9()
  // A session may outlive the postmaster for a moment and still take one.
  await eventually(() =>
    enqueuing.enqueue(note({})).then(
      () => false,
      () => true,
    ),
  )
  const away = { code: 'DATABASE_UNREACHABLE', message: expect.stringContaining('Check that it runs') }
  await expect(enqueuing.enqueue(note({}))).rejects.toMatchObject(away)
  await expect(enqueuing.enqueueMany([note({})])).rejects.toMatchObject(away)
  const asked = [
    enqueuing.find(1),
    enqueuing.why(1),
    enqueuing.attempts(1),
    enqueuing.failed(),
    enqueuing.cancel(1),
    enqueuing.retry(1),
    enqueuing.discard(1),
    enqueuing.pause({ scope: 'kind', name: 'note' }),
    enqueuing.resume({ scope: 'kind', name: 'note' }),
    enqueuing.inspect.overview(),
    enqueuing.lanes.hold('github:1', new Date(Date.now() + 60_000)),
    enqueuing.query({ text: 'select 1', values: [] } as never),
    enqueuing.transaction((tx) => tx.query('select 1')),
    enqueuing.runs.start(nightly({})),
    enqueuing.dispatch(['light']),
    enqueuing.start(),
  ]
  for (const answer of await Promise.allSettled(asked)) expect(answer).toMatchObject({ status: 'rejected', reason: away })
  await expect(starting.start()).rejects.toMatchObject(away)
  await server.restart()
  const { id } = await enqueuing.enqueue(note({}))
  await starting.start()
  await eventually(async () => (await enqueuing.find(id))?.state === 'succeeded')
})
