/**
 * The same smoke on the lowest PostgreSQL that is supported, from Debian, and on the bundled one: everything a user touches once. It runs as
 * a role that is no superuser and whose name is not the schema's, so nothing can lean on rights or on the search path.
 */
import {
  cancel,
  createEngine,
  defineKind,
  delays,
  done,
  type Engine,
  type EngineOptions,
  fail,
  migrate,
  once,
  retry,
  silentLog,
  snooze,
} from '@sluice/engine'
import { startTestServer, type TestServer } from '@sluice/local-postgres/testing'
import pg from 'pg'
import { afterAll, test as base, beforeAll, describe, expect } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/database.ts'
import { isMissing } from '../support/missing-servers.ts'

const note = defineKind('note', { payload: z.looseObject({}), run: () => {} })

const servers = [
  { name: 'PostgreSQL 15', major: 15, binaries: '/usr/lib/postgresql/15/bin', missing: isMissing('postgresql-15') },
  { name: 'PostgreSQL 18', major: 18, binaries: undefined, missing: false },
]

const asApp = (url: string): string => url.replace('://sluice@', '://app@')

async function query(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

for (const { name, major, binaries, missing } of servers)
  describe.skipIf(missing)(`on ${name}`, () => {
    let server: TestServer
    beforeAll(async () => {
      server = await startTestServer({
        binaries,
        async prepare(url) {
          await query(url, 'create role app login', `grant create on database ${new URL(url).pathname.slice(1)} to app`)
          await migrate(asApp(url))
        },
      })
    })
    afterAll(() => server.stop())

    const test = base.extend<{ client: pg.Client; engines: (options: Partial<EngineOptions>) => Engine }>({
      // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
      client: async ({}, use) => {
        const database = await server.createDatabase()
        const client = new pg.Client(asApp(database.url))
        await client.connect()
        await use(client)
        await client.end()
        await database.drop()
      },
      engines: async ({ client }, use) => {
        const made: Engine[] = []
        await use((options) => {
          const url = asApp(server.url).replace('/postgres?', `/${client.database}?`)
          const engine = createEngine({ database: url, log: silentLog, lease: '10s', grace: '2s', ...options })
          made.push(engine)
          return engine
        })
        await Promise.all(made.map((engine) => engine.stop()))
      },
    })

    const state = async (engine: Engine, id: number) => (await engine.find(id))?.state
    const ledger = (client: pg.Client, count: number) =>
      eventually(async () => (await client.query('select from sluice.job_ledger')).rowCount === count)

    test('the server is what it says, the role is nobody, and jobs run', async ({ client, engines }) => {
      const { rows } = await client.query(
        `select current_setting('server_version_num')::int / 10000 as major, usesuper, current_schemas(false) @> '{sluice}' as near
         from pg_user where usename = current_user`,
      )
      expect(rows).toEqual([{ major, usesuper: false, near: false }])
      const both = [engines({ kinds: [note] }), engines({ kinds: [note] })]
      await Promise.all(both.map((engine) => engine.start()))
      await both[0]!.enqueueMany(Array.from({ length: 1_000 }, (_, n) => note({ n })))
      await Promise.all(Array.from({ length: 100 }, (_, n) => both[n % 2]!.enqueue(note({ n }))))
      await ledger(client, 1_100)
      expect((await client.query('select distinct id from sluice.job_ledger')).rowCount).toBe(1_100)
      await eventually(() => both.every((engine) => engine.status().wakeUps === 'notifications'))
    })

    test('[E-05] dedupe works in all modes', async ({ client, engines }) => {
      const engine = engines({ kinds: [note] })
      const add = (options: object, payload = {}) => engine.enqueue(note(payload, options))
      const keep = { key: 'a', dedupe: 'keep' }
      const first = await add(keep)
      expect(await add(keep)).toEqual({ id: first.id, created: false })
      expect(await engine.enqueueMany([note({}, keep as object), note({}, { key: 'b' })])).toMatchObject([
        { id: first.id, created: false },
        { created: true },
      ])
      const replaced = await add({ key: 'r', dedupe: 'replace', delay: '1h' }, { v: 1 })
      expect(await add({ key: 'r', dedupe: 'replace' }, { v: 2 })).toEqual({ id: replaced.id, created: false })
      expect(await engine.find(replaced.id)).toMatchObject({ payload: { v: 2 }, state: 'scheduled' })
      const debounced = await add({ key: 'd', dedupe: 'debounce', delay: '1h' }, { v: 1 })
      await add({ key: 'd', dedupe: 'debounce', delay: '2h', debounceMax: '90m' }, { v: 3 })
      const { payload, runAt, createdAt } = (await engine.find(debounced.id))!
      expect({ payload, waitsMs: +runAt! - +createdAt }).toEqual({ payload: { v: 3 }, waitsMs: 90 * 60_000 })
      expect(await add({ dedupe: 'none' })).toMatchObject({ created: true })
      const window = await add({ key: 'w', uniqueFor: '1h' })
      await engine.start()
      await eventually(async () => (await state(engine, window.id)) === 'succeeded')
      expect(await add({ key: 'w', uniqueFor: '1h' })).toEqual({ id: window.id, created: false })
      const { rows } = await client.query(`select created from sluice.enqueue('note', key => 'w', unique_for => '1 hour')`)
      expect(rows).toEqual([{ created: false }])
    })

    test('[E-05] the mode "again" runs once more after the one that runs', async ({ client, engines }) => {
      let open = () => {}
      const gate = new Promise<void>((resolve) => {
        open = resolve
      })
      const slow = defineKind('slow', { dedupe: 'again', key: () => 'one', run: () => gate })
      const engine = engines({ kinds: [slow] })
      await engine.start()
      const { id } = await engine.enqueue(slow({}))
      await eventually(async () => (await state(engine, id)) === 'running')
      const again = await engine.enqueue(slow({}))
      expect(await engine.enqueue(slow({}))).toEqual({ id: again.id, created: false })
      expect(await engine.why(again.id)).toMatchObject({ reason: 'waiting for another job' })
      open()
      await ledger(client, 2)
    })

    test('[E-06] [E-10] jobs are retried, snoozed, failed, canceled and delayed', async ({ engines }) => {
      const moody = defineKind('moody', {
        payload: z.object({ mood: z.string() }),
        retry: delays(['10ms', '10ms']),
        run: ({ payload: { mood }, attempt, createdAt }) => {
          if (mood === 'throws' && attempt < 3) throw new Error('not yet')
          if (mood === 'retries' && attempt === 1) return retry({ after: '20ms', error: new Error('later') })
          if (mood === 'sleeps' && Date.now() - +createdAt < 100) return snooze('100ms')
          if (mood === 'fails') return fail(new Error('never'))
          if (mood === 'gives up') return cancel('no longer wanted')
          return done()
        },
      })
      const engine = engines({ kinds: [moody] })
      await engine.start()
      const run = async (mood: string, options = {}) => {
        const { id } = await engine.enqueue(moody({ mood }, options))
        await eventually(async () => ['succeeded', 'failed', 'canceled'].includes((await state(engine, id)) ?? ''))
        const { state: end, attempt } = (await engine.find(id))!
        return { end, attempt, history: (await engine.attempts(id)).map(({ outcome }) => outcome) }
      }
      expect(await run('throws')).toEqual({ end: 'succeeded', attempt: 3, history: ['retry', 'retry', 'succeeded'] })
      expect(await run('retries')).toEqual({ end: 'succeeded', attempt: 2, history: ['retry', 'succeeded'] })
      expect(await run('sleeps')).toMatchObject({ end: 'succeeded', attempt: 1 })
      expect(await run('fails')).toEqual({ end: 'failed', attempt: 1, history: ['failed'] })
      expect(await run('gives up')).toEqual({ end: 'canceled', attempt: 1, history: ['canceled'] })
      expect(await run('done', { delay: '100ms' })).toMatchObject({ end: 'succeeded', attempt: 1 })
    })

    test('[E-09] [E-22] children come with their parent, and a tree is canceled', async ({ client, engines }) => {
      const parent = defineKind('parent', {
        run: ({ id }) =>
          done({
            write: (tx) => tx.query('insert into sluice.effect values ($1)', [id]),
            next: [endless({}), note({}, { delay: '1h' })],
          }),
      })
      const endless = defineKind('endless', {
        run: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('told')))),
      })
      const [one, other] = [engines({ kinds: [parent, endless, note] }), engines({ kinds: [note], pools: {} })]
      await client.query('create table sluice.effect (job bigint)')
      await one.start()
      const { id } = await one.enqueue(parent({}))
      const running = `select from sluice.job where worker is not null and root = $1`
      await eventually(async () => (await client.query(running, [id])).rowCount === 1)
      const answers = await other.cancel(id, { tree: true })
      expect([...answers.values()].toSorted()).toEqual(['canceled', 'not live', 'requested'])
      await ledger(client, 3)
      expect((await client.query('select from sluice.effect')).rowCount).toBe(1)
    })

    test('[E-21] kinds and pools are paused and resumed', async ({ engines }) => {
      const engine = engines({ kinds: [note] })
      await engine.start()
      for (const target of [
        { scope: 'kind', name: 'note' },
        { scope: 'pool', name: 'light' },
      ] as const) {
        await engine.pause(target, 'lunch')
        const { id } = await engine.enqueue(note({}))
        expect(await engine.why(id)).toMatchObject({ reason: 'paused', text: expect.stringContaining('lunch') })
        await engine.resume(target)
        await eventually(async () => (await state(engine, id)) === 'succeeded')
      }
    })

    test('[E-11] a process that does not lead works also where nobody has ever led', async ({ client, engines }) => {
      const engine = engines({ kinds: [note], lead: false })
      await engine.start()
      await engine.enqueue(note({}))
      await ledger(client, 1)
      expect(engine.status()).toMatchObject({ ready: true, leads: false })
    })

    test('[E-19] [E-23] a leader that stops keeps its lease for as long as its jobs run', async ({ client, engines }) => {
      let open = () => {}
      const gate = new Promise<void>((resolve) => {
        open = resolve
      })
      const slow = defineKind('slow', { run: () => gate })
      const [one, other] = [1, 2].map(() => engines({ kinds: [slow], lease: '1s', grace: '60s' })) as [Engine, Engine]
      await one.start()
      const { id } = await one.enqueue(slow({}))
      await eventually(async () => one.status().leads && (await state(one, id)) === 'running')
      const stopped = one.stop()
      const beats = async () => (await client.query('select beat_at::text as at from sluice.worker where stopping')).rows[0]?.at
      const seen = new Set<string>()
      await eventually(async () => seen.add(await beats()).size > 5)
      await other.start()
      await eventually(() => other.status().leads)
      open()
      await stopped
      expect(await one.attempts(id).catch(() => other.attempts(id))).toMatchObject([{ attempt: 1, outcome: 'succeeded' }])
    })

    test('[E-07] [E-24] jobs of a lost process are rescued, and old days are dropped', async ({ client, engines }) => {
      const broken = defineKind('broken', { retry: once, run: () => fail(new Error('broken')) })
      const engine = engines({ kinds: [note, broken], keepDays: 5 })
      await engine.migrate()
      await client.query(
        `insert into sluice.worker (id, name, lease_until) values (98, 'left something behind', '-infinity'), (99, 'dead', now() - interval '1 s')`,
      )
      await client.query(
        `insert into sluice.job (id, kind, pool, rank, payload, max_attempts, created_at, worker, attempt, fence, started_at)
         select n, 'note', 'light', 1, '{}', 5, now(), 98 + n % 2, 1, 7, now() from generate_series(1001, 1010) n`,
      )
      await client.query(`select sluice.add_days((now() at time zone 'UTC')::date - 20, 2)`)
      const failing = await engine.enqueue(broken({}))
      await engine.start()
      await ledger(client, 10)
      expect(await engine.attempts(1_001)).toMatchObject([{ outcome: 'lost' }, { outcome: 'succeeded' }])
      await eventually(async () => (await state(engine, failing.id)) === 'failed')
      expect(await engine.retry(failing.id)).toEqual(new Map([[failing.id, 'retried']]))
      await eventually(async () => (await engine.attempts(failing.id)).length === 2)
      const old = `select from pg_class where relnamespace = 'sluice'::regnamespace and relname ~ '\\d{8}$'
                   and to_date(right(relname, 8), 'YYYYMMDD') < (now() at time zone 'UTC')::date`
      await eventually(async () => (await client.query(old)).rowCount === 0)
    })
  })
