/**
 * A lone job goes to a process that is idle, as its claim and with the commit. Whatever does not fit goes the usual way, and what gets lost is found:
 * each job runs once, and no attempt is burned.
 */
import { createEngine, defineKind, type Engine, type EngineOptions, silentLog } from '@sluice/engine'
import pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/database.ts'
import { serverWaits, withOnlooker } from '../support/onlooker.ts'
import { test as base } from '../support/processes.ts'
import { startProxy } from '../support/proxy.ts'

interface Scene {
  readonly ran: number[]
  readonly note: ReturnType<typeof noteInto>
  /** Started, and known to be idle. */
  idle(options?: Partial<EngineOptions>): Promise<Engine>
  /** As an engine enqueues a lone job. */
  enqueue(on?: pg.Client, kind?: string, payload?: object): Promise<{ id: number; handedOver: boolean }>
}

const noteInto = (ran: number[]) => defineKind('note', { payload: z.looseObject({}), run: ({ id }) => void ran.push(id) })
/** No heartbeat comes of itself within a test. */
const longLease = '10m'

const offers = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query(
    `select count(*)::int as n from pg_locks where locktype = 'advisory' and classid = 1936487785 and mode = 'ExclusiveLock' and database = (select oid from pg_database where datname = current_database())`,
  )
  return rows[0].n
}

const test = base.extend<{ scene: Scene }>({
  scene: async ({ client, engines }, use) => {
    const ran: number[] = []
    const note = noteInto(ran)
    await use({
      ran,
      note,
      async idle(options) {
        const before = await offers(client)
        const engine = engines({ kinds: [note], lease: longLease, ...options })
        await engine.start()
        await eventually(async () => (await offers(client)) === before + 1)
        return engine
      },
      async enqueue(on = client, kind = 'note', payload = {}) {
        const { rows } = await on.query('select id::int, handed_over from sluice.enqueue_lone($1, $2, true, null, true)', [
          kind,
          JSON.stringify(payload),
        ])
        return { id: rows[0].id, handedOver: rows[0].handed_over === true }
      },
    })
  },
})

const ended = (client: pg.Client, id: number) =>
  eventually(async () => {
    const { rows } = await client.query('select attempt, state, worker::int from sluice.job_ledger where id = $1', [id])
    return rows[0] as { attempt: number; state: string; worker: number } | undefined
  })

test('[E-11] a lone job is born as the claim of a process that is idle, again and again', async ({ scene, client, engines }) => {
  const worker = await scene.idle()
  const other = engines({ kinds: [scene.note] })
  for (let round = 0; round < 5; round++) {
    const { id, handedOver } = await scene.enqueue()
    expect(handedOver).toBe(true)
    expect(await ended(client, id)).toEqual({ attempt: 1, state: 'succeeded', worker: worker.status().worker })
    await eventually(async () => (await offers(client)) === 1)
  }
  const { id } = await other.enqueue(scene.note({ n: 1 }))
  expect(await ended(client, id)).toMatchObject({ attempt: 1, state: 'succeeded' })
  await eventually(() => scene.ran.length === 6)
  expect(new Set(scene.ran).size).toBe(6)
})

test('[E-11] one process hears of it, and the others sleep on', async ({ scene, client }) => {
  const workers = [await scene.idle(), await scene.idle(), await scene.idle()]
  const heard: (string | undefined)[] = []
  client.on('notification', ({ payload }) => heard.push(payload))
  await client.query('listen sluice')
  const { id } = await scene.enqueue()
  const { worker } = await ended(client, id)
  expect(workers.map((one) => one.status().worker)).toContain(worker)
  expect(heard.filter((message) => message?.startsWith('ready:'))).toEqual([])
  await eventually(async () => (await offers(client)) === 3)
})

test('[E-11] what does not fit goes the usual way: paused, too large, unknown here, a pool of others, a busy process', async ({
  scene,
  client,
}) => {
  const heavy = defineKind('heavy', { pool: 'heavy', run: () => {} })
  let open: () => void = () => {}
  const slow = defineKind('slow', { run: () => new Promise<void>((resolve) => void (open = resolve)) })
  const engine = await scene.idle({ kinds: [scene.note, heavy, slow], pools: { light: { core: 5, max: 5 } } })
  const usual = async (kind?: string, payload?: object) => {
    const { id, handedOver } = await scene.enqueue(client, kind, payload)
    expect(handedOver).toBe(false)
    return id
  }
  await engine.pause({ scope: 'kind', name: 'note' })
  expect(await engine.find(await usual())).toMatchObject({ state: 'paused' })
  await engine.resume({ scope: 'kind', name: 'note' })
  await engine.pause({ scope: 'pool', name: 'light' })
  expect(await engine.find(await usual())).toMatchObject({ state: 'ready' })
  await engine.resume({ scope: 'pool', name: 'light' })
  await usual('note', { text: 'long '.repeat(2_000) })
  await usual('note', { text: '\u0001'.repeat(1_900) }) // each takes seven bytes in a notification
  await usual('heavy')
  await eventually(() => scene.ran.length === 4)
  await eventually(async () => (await offers(client)) === 1)

  const { id } = await scene.enqueue(client, 'slow')
  await eventually(async () => (await offers(client)) === 0)
  const beside = await usual()
  expect(await ended(client, beside)).toMatchObject({ attempt: 1 })
  open()
  expect(await ended(client, id)).toMatchObject({ attempt: 1, state: 'succeeded' })
})

test('[E-07] nothing is handed over to a process that was killed, or whose lease is over', async ({ scene, client, program }) => {
  const dying = program('step-worker', { lease: longLease })
  await dying.hears('worker')
  await eventually(async () => (await offers(client)) === 1)
  dying.signal('SIGKILL')
  await eventually(async () => (await offers(client)) === 0)
  expect(await scene.enqueue(client, 'step.plain')).toMatchObject({ handedOver: false })

  await scene.idle()
  await client.query(`update sluice.worker set lease_until = sluice.now() where 'note' = any(takes)`)
  expect(await scene.enqueue()).toMatchObject({ handedOver: false })
})

test('[E-20] of two that come at once for one slot, the second goes back, and both run once', async ({ scene, client }) => {
  await scene.idle({ pools: { light: { core: 1, max: 1 } } })
  await client.query('begin')
  const both = [await scene.enqueue(), await scene.enqueue()]
  expect(both).toMatchObject([{ handedOver: true }, { handedOver: true }])
  await client.query('commit')
  for (const { id } of both) expect(await ended(client, id)).toMatchObject({ attempt: 1, state: 'succeeded' })
  expect(scene.ran.toSorted((a, b) => a - b)).toEqual(both.map(({ id }) => id))
})

test('[E-11] [E-27] a hand-over that vanishes on the way is found by the heartbeat, and runs once', async ({
  scene,
  database,
  client,
}) => {
  const proxy = await startProxy(database.url)
  const said: string[] = []
  const log = { ...silentLog, warn: (event: string) => void said.push(event) }
  const engine = createEngine({ database: proxy.through(database.url), log, kinds: [scene.note], lease: '2s' })
  try {
    await engine.start()
    await eventually(async () => (await offers(client)) === 1)
    proxy.silence(/^sluice listen$/)
    const lost = await scene.enqueue()
    expect(lost.handedOver).toBe(true)
    expect(await ended(client, lost.id)).toMatchObject({ attempt: 1, state: 'succeeded' })
    expect(said).toContain('lost claims handed back')
    // The connection that was deaf is made anew.
    await eventually(async () => (await offers(client)) === 1)
    const next = await scene.enqueue()
    expect(next.handedOver).toBe(true)
    expect(await ended(client, next.id)).toMatchObject({ attempt: 1, state: 'succeeded' })
    expect(scene.ran).toEqual([lost.id, next.id])
  } finally {
    await engine.stop()
    await proxy.stop()
  }
})

test('[E-27] the connection breaks while a job is handed over: whoever reconnects hands it back, and it runs once', async ({
  scene,
  database,
  client,
}) => {
  const engine = await scene.idle()
  const sender = new pg.Client(database.url)
  await sender.connect()
  try {
    for (let round = 0; round < 3; round++) {
      await eventually(async () => (await offers(client)) === 1)
      await sender.query('begin')
      const { id, handedOver } = await scene.enqueue(sender)
      expect(handedOver).toBe(true)
      await client.query(
        `select pg_terminate_backend(pid, 20000) from pg_stat_activity where datname = current_database() and application_name = 'sluice listen'`,
      )
      // The audit waits for whoever hands over.
      await withOnlooker(database.url, (onlooker) => serverWaits(onlooker, 'sluice.audit('))
      await sender.query('commit')
      expect(await ended(client, id)).toMatchObject({ attempt: 1, state: 'succeeded', worker: engine.status().worker })
      expect(scene.ran.filter((one) => one === id)).toHaveLength(1)
    }
  } finally {
    await sender.end()
  }
})

test('[E-23] a job that is handed over to a process that leaves goes back, and no attempt is burned', async ({
  scene,
  database,
  client,
}) => {
  const leaving = await scene.idle()
  const sender = new pg.Client(database.url)
  await sender.connect()
  try {
    await sender.query('begin')
    const { id, handedOver } = await scene.enqueue(sender)
    expect(handedOver).toBe(true)
    const left = leaving.stop()
    await withOnlooker(database.url, (onlooker) => serverWaits(onlooker, 'sluice.audit('))
    await sender.query('commit')
    await left
    const { rows } = await client.query('select state, attempt, crashes from sluice.job where id = $1', [id])
    expect(rows).toEqual([{ state: 'ready', attempt: 0, crashes: 0 }])
    expect(scene.ran).toEqual([])
  } finally {
    await sender.end()
  }
})

test('[E-08] a process that dies with what was handed over loses nothing: it runs again elsewhere', async ({
  scene,
  client,
  program,
  engines,
}) => {
  const dying = program('step-worker', { lease: '2s', gated: ['step.plain'] })
  await dying.hears('worker')
  await eventually(async () => (await offers(client)) === 1)
  const { id, handedOver } = await scene.enqueue(client, 'step.plain')
  expect(handedOver).toBe(true)
  await dying.hears('started', id)
  dying.signal('SIGKILL')
  const heir = engines({ kinds: [defineKind('step.plain', { run: () => {} })], lease: '2s' })
  await heir.start()
  expect(await ended(client, id)).toMatchObject({ attempt: 2, state: 'succeeded', worker: heir.status().worker })
})

test('[E-22] a cancel right behind a hand-over reaches it', async ({ scene, client }) => {
  const patient = defineKind('patient', {
    run: ({ signal }) => new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  })
  await scene.idle({ kinds: [patient] })
  await client.query('begin')
  const { id, handedOver } = await scene.enqueue(client, 'patient')
  expect(handedOver).toBe(true)
  await client.query('select sluice.cancel(array[$1::bigint], null)', [id])
  await client.query('commit')
  expect(await ended(client, id)).toMatchObject({ attempt: 1, state: 'canceled' })
})

test('[E-27] a connection that went deaf keeps no audit waiting, and no job', async ({ scene, database, client }) => {
  const proxy = await startProxy(database.url)
  const engine = createEngine({ database: proxy.through(database.url), log: silentLog, kinds: [scene.note], lease: '2s' })
  try {
    await engine.start()
    await eventually(async () => (await offers(client)) === 1)
    proxy.silence(/^sluice listen$/)
    const lost = proxy.loseAnswer(/sluice_claim\b|sluice\.claim\(/, { rows: true })
    const { rows } = await client.query(`select id::int from sluice.enqueue('note')`)
    await lost
    expect(await ended(client, rows[0].id)).toMatchObject({ attempt: 1, state: 'succeeded' })
    expect(scene.ran).toEqual([rows[0].id])
  } finally {
    await engine.stop()
    await proxy.stop()
  }
})
