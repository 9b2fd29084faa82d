/**
 * Behind a connection pooler that swallows notifications and forgets prepared statements the engine works all the same: it notices both by
 * itself, says so, and the heartbeat is its wake-up. No job pays for the discovery with an attempt.
 */
import { cancel, createEngine, defineKind, delays, done, type Engine, type EngineOptions, silentLog } from '@sluice/engine'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject } from 'vitest'
import { z } from 'zod'
import { Database } from '#engine/postgres/database'
import { isTransient } from '#engine/postgres/transient'
import { test as base, eventually } from '../support/database.ts'
import { isMissing } from '../support/missing-servers.ts'
import { type Pgbouncer, startPgbouncer } from '../support/pgbouncer.ts'

const note = defineKind('note', { payload: z.looseObject({}), run: () => {} })
const writes = defineKind('writes', {
  payload: z.looseObject({}),
  run: ({ id }) => done({ write: (tx) => tx.query('insert into effect (job) values ($1)', [id]), next: [note({ from: id })] }),
})
const moody = defineKind('moody', {
  retry: delays(['10ms', '10ms']),
  run: ({ attempt }) => {
    if (attempt < 3) throw new Error('not yet')
  },
})

interface Fixtures {
  /** Clients of the pooler. */
  sessions: (count: number) => Promise<pg.Client[]>
  /** Engines behind it. */
  pooled: (options: Partial<EngineOptions>) => Engine
}

describe.skipIf(isMissing('pgbouncer'))('through pgbouncer in transaction mode', () => {
  let bouncer: Pgbouncer
  beforeAll(async () => {
    bouncer = await startPgbouncer(inject('serverUrl'), { connections: 4 })
  })
  afterAll(() => bouncer.stop())

  const test = base.extend<Fixtures>({
    sessions: async ({ database }, use) => {
      const opened: pg.Client[] = []
      await use(async (count) => {
        const made = Array.from({ length: count }, () => new pg.Client(bouncer.through(database.url)))
        opened.push(...made)
        await Promise.all(made.map((one) => one.connect()))
        return made
      })
      await Promise.all(opened.map((one) => one.end()))
    },
    pooled: async ({ database, client }, use) => {
      await client.query('create table effect (job bigint not null)')
      const kinds = [note, writes, moody]
      const made: Engine[] = []
      await use((options) => {
        const through = { database: bouncer.through(database.url), log: silentLog }
        made.push(createEngine({ ...through, lease: '3s', grace: '5s', kinds, ...options }))
        return made.at(-1) as Engine
      })
      await Promise.all(made.map((engine) => engine.stop()))
    },
  })

  test('the pooler is as strict as we say', async ({ sessions, client }) => {
    const [one, other] = await sessions(2)
    const heard: unknown[] = []
    one!.on('notification', (message) => heard.push(message))
    await one!.query('listen sluice')
    await one!.query({ name: 'kept', text: 'select 1' })
    // The other one now holds the server connection that knows the statement.
    await other!.query('begin')
    await client.query(`notify sluice, 'ready:light'`)
    await expect(one!.query({ name: 'kept', text: 'select 1' })).rejects.toMatchObject({ code: '26000' })
    expect(heard).toEqual([])
  })

  test('a transaction that meets a forgotten statement fails as something to be tried again, and then goes through', async ({
    sessions,
    database,
  }) => {
    const [other] = await sessions(1)
    const connections = new Database({ url: bouncer.through(database.url), poolMax: 1, prepare: true, log: silentLog })
    const act = () =>
      connections.transaction(10_000, ({ client }) => connections.send<[number]>(client, { name: 'kept', text: 'select 1' }, []))
    expect(await act()).toEqual([[1]])
    await other!.query('begin')
    const error: unknown = await act().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: '26000' })
    expect(isTransient(error)).toBe(true)
    expect(await act()).toEqual([[1]])
    await connections.close()
  })

  test('[E-11] jobs start with the heartbeat, and the status says so', async ({ pooled, client }) => {
    const said: string[] = []
    const engine = pooled({ log: { ...silentLog, warn: (event) => said.push(event) } })
    await engine.start()
    for (let n = 0; n < 3; n++) {
      const { id } = await engine.enqueue(note({ n }))
      await eventually(async () => (await engine.find(id))?.state === 'succeeded')
    }
    await eventually(() => engine.status().ready)
    expect(engine.status()).toMatchObject({ wakeUps: 'heartbeat' })
    await eventually(() => said.includes('wake-ups do not arrive'))
    await eventually(() => engine.status().ready)
    expect(engine.status()).toMatchObject({ wakeUps: 'heartbeat' })
    expect((await client.query('select from sluice.job_ledger where attempt <> 1')).rowCount).toBe(0)
  })

  test.for([true, false])(
    '[E-09] writes, children and retries work, nothing is lost or doubled (prepare: %s)',
    async (prepare, { pooled, client }) => {
      const two = [pooled({ prepare, lease: '20s' }), pooled({ prepare, lease: '20s' })]
      await Promise.all(two.map((engine) => engine.start()))
      const [first, second] = two as [Engine, Engine]
      const plain = await first.enqueueMany(Array.from({ length: 300 }, (_, n) => note({ n })))
      const writing = await Promise.all(Array.from({ length: 100 }, (_, n) => second.enqueue(writes({ n }))))
      const { id } = await first.enqueue(moody({}))
      await eventually(async () => (await client.query('select from sluice.job_ledger')).rowCount === 501, 60_000)
      const { rows } = await client.query<{ id: string; kind: string; attempt: number; state: string }>(
        'select id, kind, attempt, state from sluice.job_ledger',
      )
      expect(new Set(rows.map((row) => row.id)).size).toBe(501)
      expect(rows.every((row) => row.state === 'succeeded')).toBe(true)
      expect(rows.filter((row) => row.kind !== 'moody' && row.attempt !== 1)).toEqual([])
      expect(await first.find(id)).toMatchObject({ attempt: 3 })
      const { rows: effects } = await client.query<{ job: string }>('select job from effect order by job::int')
      expect(effects.map(({ job }) => Number(job))).toEqual(writing.map((one) => one.id).toSorted((a, b) => a - b))
      expect(plain).toHaveLength(300)
    },
  )

  test('[E-22] delayed jobs, cancel across processes and pauses work', async ({ pooled, client }) => {
    const endless = defineKind('endless', {
      run: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(cancel('told')))),
    })
    const worker = pooled({ kinds: [note, endless] })
    const other = pooled({ kinds: [note, endless] })
    await worker.start()
    const delayed = await other.enqueue(note({}, { delay: '200ms' }))
    await eventually(async () => (await other.find(delayed.id))?.state === 'succeeded')
    const { id } = await other.enqueue(endless({}))
    await eventually(async () => (await other.find(id))?.state === 'running')
    expect(await other.cancel(id)).toEqual(new Map([[id, 'requested']]))
    await eventually(async () => (await other.find(id))?.state === 'canceled')
    await other.pause({ scope: 'kind', name: 'note' })
    const paused = await other.enqueue(note({}))
    expect(await other.why(paused.id)).toMatchObject({ reason: 'paused' })
    await other.resume({ scope: 'kind', name: 'note' })
    await eventually(async () => (await other.find(paused.id))?.state === 'succeeded')
    await worker.stop()
    expect((await client.query('select from sluice.worker')).rowCount).toBe(0)
  })

  test('[E-24] old days are dropped and no session keeps what the pruner set', async ({ pooled, client, sessions }) => {
    await client.query(`select sluice.add_days((now() at time zone 'UTC')::date - 40, 1)`)
    const engine = pooled({})
    await engine.start()
    const old = `select from sluice.old_days(30)`
    await eventually(async () => (await client.query(old)).rowCount === 0)
    await engine.stop()
    // All server connections at once, each by its own client.
    const clients = await sessions(4)
    for (const one of clients) await one.query('begin')
    const limits: unknown[] = []
    for (const one of clients) limits.push(...(await one.query('show lock_timeout')).rows)
    for (const one of clients) await one.query('rollback')
    expect(limits).toEqual(clients.map(() => ({ lock_timeout: '0' })))
  })
})
