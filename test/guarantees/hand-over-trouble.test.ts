/**
 * What breaks while a job is handed to an idle process: connections, processes, clocks, and strangers who keep a key. Each job runs once, no attempt is
 * burned, and the process goes on.
 */
import { createEngine, defineKind, fail, silentLog } from '@sluice/engine'
import pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/database.ts'
import { test } from '../support/hand-over-scene.ts'
import { serverWaits, withOnlooker } from '../support/onlooker.ts'
import { startProxy } from '../support/proxy.ts'

test('[E-11] [E-27] a hand-over that vanishes on the way is found by the heartbeat, and runs once', async ({
  scene,
  database,
}) => {
  const proxy = await startProxy(database.url)
  const said: string[] = []
  const log = { ...silentLog, warn: (event: string) => void said.push(event) }
  const engine = createEngine({ database: proxy.through(database.url), log, kinds: [scene.note], lease: '2s' })
  try {
    await engine.start()
    await eventually(async () => (await scene.offers()) === 1)
    proxy.silence(/^sluice listen$/)
    const lost = await scene.enqueue()
    expect(lost.handedOver).toBe(true)
    expect(await scene.ended(lost.id)).toMatchObject({ attempt: 1, state: 'succeeded' })
    expect(said).toContain('lost claims handed back')
    // The connection that was deaf is made anew.
    await eventually(async () => (await scene.offers()) === 1)
    const next = await scene.enqueue()
    expect(next.handedOver).toBe(true)
    expect(await scene.ended(next.id)).toMatchObject({ attempt: 1, state: 'succeeded' })
    expect(scene.ran).toEqual([lost.id, next.id])
  } finally {
    await engine.stop()
    await proxy.stop()
  }
})

test('[E-27] the connection breaks while a job is handed over: whoever reconnects hands it back, and it runs once', async ({
  scene,
  database,
}) => {
  const engine = await scene.idle()
  const sender = new pg.Client(database.url)
  await sender.connect()
  try {
    for (let round = 0; round < 3; round++) {
      await eventually(async () => (await scene.offers()) === 1)
      await sender.query('begin')
      const { id, handedOver } = await scene.enqueue(sender)
      expect(handedOver).toBe(true)
      await scene.cutListeners()
      // The audit waits for whoever hands over.
      await withOnlooker(database.url, (onlooker) => serverWaits(onlooker, 'sluice.audit('))
      await sender.query('commit')
      expect(await scene.ended(id)).toMatchObject({ attempt: 1, state: 'succeeded', worker: engine.status().worker })
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
    const { rows } = await client.query(
      'select sluice.state_of(shelf, worker) as state, attempt, crashes from sluice.job where id = $1',
      [id],
    )
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
  await eventually(async () => (await scene.offers()) === 1)
  const { id, handedOver } = await scene.enqueue(client, 'step.plain')
  expect(handedOver).toBe(true)
  await dying.hears('started', id)
  dying.signal('SIGKILL')
  const heir = engines({ kinds: [defineKind('step.plain', { run: () => {} })], lease: '2s' })
  await heir.start()
  expect(await scene.ended(id)).toMatchObject({ attempt: 2, state: 'succeeded', worker: heir.status().worker })
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
  expect(await scene.ended(id)).toMatchObject({ attempt: 1, state: 'canceled' })
})

test('[E-22] a job that was canceled while it ran elsewhere and is retried by hand runs in the process that canceled it', async ({
  scene,
  engines,
}) => {
  let goOn: () => void = () => {}
  const told = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const elsewhere = engines({ kinds: [defineKind('stubborn', { run: () => told.then(() => fail('no')) })] })
  await elsewhere.start()
  const { id } = await elsewhere.enqueue({ kind: 'stubborn', payload: {} })
  await eventually(async () => elsewhere.status().running === 1 && (await scene.offers()) === 0)
  const idle = await scene.idle({ kinds: [defineKind('stubborn', { run: () => {} })], lead: false })
  expect(await idle.cancel(id)).toEqual(new Map([[id, 'requested']]))
  goOn()
  await eventually(async () => (await idle.find(id))?.state === 'failed')
  await elsewhere.stop()
  await idle.retry(id)
  expect(await scene.ended(id)).toMatchObject({ state: 'succeeded', worker: idle.status().worker })
})

test('[E-27] a connection that went deaf keeps no audit waiting, and no job', async ({ scene, database, client }) => {
  const proxy = await startProxy(database.url)
  const engine = createEngine({ database: proxy.through(database.url), log: silentLog, kinds: [scene.note], lease: '2s' })
  try {
    await engine.start()
    await eventually(async () => (await scene.offers()) === 1)
    proxy.silence(/^sluice listen$/)
    const lost = proxy.loseAnswer(/sluice_claim\b|sluice\.claim\(/, { rows: true })
    const { rows } = await client.query(`select id::int from sluice.enqueue('note')`)
    await lost
    expect(await scene.ended(rows[0].id)).toMatchObject({ attempt: 1, state: 'succeeded' })
    expect(scene.ran).toEqual([rows[0].id])
  } finally {
    await engine.stop()
    await proxy.stop()
  }
})

test('[E-05] whoever waits for a stranger’s key keeps no process from hearing, and no audit waiting', async ({
  scene,
  database,
  client,
  engines,
}) => {
  const keyed = defineKind('keyed', { payload: z.looseObject({}), dedupe: 'keep', run: () => {} })
  const kinds = [scene.note, keyed]
  await scene.idle({ kinds })
  const sender = engines({ kinds })
  await sender.migrate()
  const stranger = new pg.Client(database.url)
  await stranger.connect()
  try {
    await stranger.query('begin')
    await stranger.query(`select id from sluice.enqueue_lone('keyed', '{"a": 1}', true)`)
    const sent = sender.enqueue(keyed({ a: 1 }))
    await withOnlooker(database.url, (onlooker) => serverWaits(onlooker, 'sluice.enqueue_'))
    await scene.cutListeners()
    const { id } = await scene.enqueue(client, 'note')
    expect(await scene.ended(id)).toMatchObject({ attempt: 1, state: 'succeeded' })
    await eventually(async () => (await scene.offers()) === 1)
    await stranger.query('rollback')
    expect(await scene.ended((await sent).id)).toMatchObject({ attempt: 1, state: 'succeeded' })
  } finally {
    await stranger.end()
  }
})

test('[E-07] a process that comes back under a new name is handed jobs again, and none while it is busy', async ({
  scene,
  client,
}) => {
  let open: () => void = () => {}
  const slow = defineKind('slow', { run: () => new Promise<void>((resolve) => void (open = resolve)) })
  const engine = await scene.idle({ kinds: [scene.note, slow], lease: '2s' })
  for (const broken of [false, true]) {
    const before = engine.status().worker
    await client.query('delete from sluice.worker')
    if (broken) await scene.cutListeners()
    await eventually(async () => engine.status().worker !== before && (await scene.offers()) === 1)
    const { id } = await eventually(async () => {
      const made = await scene.enqueue(client, 'slow', { broken })
      return made.handedOver && made
    })
    await eventually(async () => (await scene.offers()) === 0)
    await eventually(async () => {
      open() // also of those that went the usual way
      return (await client.query('select from sluice.job')).rowCount === 0
    })
    expect(await scene.ended(id)).toMatchObject({ attempt: 1, state: 'succeeded', worker: engine.status().worker })
  }
})

test('[E-07] a hand-over that seems older than an audit, because a clock was set back, is not lost', async ({
  scene,
  client,
}) => {
  await scene.idle({ lease: '2s' })
  const channel = async () => (await client.query('select channel from sluice.worker')).rows[0].channel
  const before = await channel()
  await scene.cutListeners()
  await eventually(async () => (await channel()) !== before && (await scene.offers()) === 1)
  await client.query(`set sluice.clock_offset = '-3 s'`)
  const { id } = await scene.enqueue()
  expect(await scene.ended(id)).toMatchObject({ attempt: 1, state: 'succeeded' })
  expect(scene.ran).toEqual([id])
})

test('[O-09] the name of the channel stands in no statement that others may look at', async ({ scene, client }) => {
  await scene.idle()
  const { rows: texts } = await client.query(
    `select query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  )
  const { rows } = await client.query('select channel from sluice.worker')
  expect(rows).toEqual([{ channel: expect.stringMatching(/^sluice_[0-9a-f]{32}$/) }])
  expect(texts.length).toBeGreaterThan(0)
  for (const { query } of texts) expect(query).not.toContain(rows[0].channel)
})
