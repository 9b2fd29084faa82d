/**
 * A lone job goes to a process that is idle, as its claim and with the commit. Whatever does not fit goes the usual way, and what gets lost is found:
 * each job runs once, and no attempt is burned.
 */
import { defineKind } from '@sluice/engine'
import pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/database.ts'
import { longLease, test } from '../support/hand-over-scene.ts'

test('[E-11] a lone job is born as the claim of a process that is idle, again and again', async ({ scene, engines }) => {
  const worker = await scene.idle()
  const other = engines({ kinds: [scene.note] })
  for (let round = 0; round < 5; round++) {
    const { id, handedOver } = await scene.enqueue()
    expect(handedOver).toBe(true)
    expect(await scene.ended(id)).toEqual({ attempt: 1, state: 'succeeded', worker: worker.status().worker })
    await eventually(async () => (await scene.offers()) === 1)
  }
  const { id } = await other.enqueue(scene.note({ n: 1 }))
  expect(await scene.ended(id)).toMatchObject({ attempt: 1, state: 'succeeded' })
  await eventually(() => scene.ran.length === 6)
  expect(new Set(scene.ran).size).toBe(6)
})

test('[E-11] one process hears of it, and the others sleep on', async ({ scene, client }) => {
  const workers = [await scene.idle(), await scene.idle(), await scene.idle()]
  const heard: (string | undefined)[] = []
  client.on('notification', ({ payload }) => heard.push(payload))
  await client.query('listen sluice')
  const { id } = await scene.enqueue()
  const { worker } = await scene.ended(id)
  expect(workers.map((one) => one.status().worker)).toContain(worker)
  expect(heard.filter((message) => message?.startsWith('ready:'))).toEqual([])
  await eventually(async () => (await scene.offers()) === 3)
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
  // A claim that is under way has not heard of a pause.
  await eventually(() => scene.ran.length === 1)
  await eventually(async () => (await scene.offers()) === 1)
  await engine.pause({ scope: 'pool', name: 'light' })
  expect(await engine.find(await usual())).toMatchObject({ state: 'ready' })
  await engine.resume({ scope: 'pool', name: 'light' })
  await usual('note', { text: 'long '.repeat(2_000) })
  await usual('note', { text: '\u0001'.repeat(1_900) }) // each takes seven bytes in a notification
  await usual('heavy')
  await eventually(() => scene.ran.length === 4)
  await eventually(async () => (await scene.offers()) === 1)

  const { id } = await scene.enqueue(client, 'slow')
  await eventually(async () => (await scene.offers()) === 0)
  const beside = await usual()
  expect(await scene.ended(beside)).toMatchObject({ attempt: 1 })
  open()
  expect(await scene.ended(id)).toMatchObject({ attempt: 1, state: 'succeeded' })
})

test('[E-07] nothing is handed over to a process that was killed, or whose lease is over', async ({ scene, client, program }) => {
  const dying = program('step-worker', { lease: longLease })
  await dying.hears('worker')
  await eventually(async () => (await scene.offers()) === 1)
  dying.signal('SIGKILL')
  await eventually(async () => (await scene.offers()) === 0)
  expect(await scene.enqueue(client, 'step.plain')).toMatchObject({ handedOver: false })

  await scene.idle()
  await client.query(`update sluice.worker set lease_until = sluice.now() where 'note' = any(takes)`)
  expect(await scene.enqueue()).toMatchObject({ handedOver: false })
})

test('[E-20] of two that come at once for one slot, the second goes back, and both run once', async ({ scene, database }) => {
  await scene.idle({ pools: { light: { core: 1, max: 1 } } })
  const senders = [new pg.Client(database.url), new pg.Client(database.url)]
  await Promise.all(senders.map((sender) => sender.connect()))
  for (const sender of senders) await sender.query('begin')
  const both = [await scene.enqueue(senders[0]), await scene.enqueue(senders[1])]
  expect(both).toMatchObject([{ handedOver: true }, { handedOver: true }])
  await Promise.all(senders.map((sender) => sender.query('commit')))
  await Promise.all(senders.map((sender) => sender.end()))
  for (const { id } of both) expect(await scene.ended(id)).toMatchObject({ attempt: 1, state: 'succeeded' })
  expect(scene.ran.toSorted((a, b) => a - b)).toEqual(both.map(({ id }) => id))
})

test('[E-07] a process that is frozen while it is idle gets one job, and the others go elsewhere at once', async ({
  scene,
  client,
  program,
  engines,
}) => {
  const frozen = program('step-worker', { lease: longLease })
  await frozen.hears('worker')
  await eventually(async () => (await scene.offers()) === 1)
  frozen.signal('SIGSTOP')
  const ids = []
  for (let n = 0; n < 10; n++) ids.push(await scene.enqueue(client, 'step.plain', { n }))
  expect(ids.filter(({ handedOver }) => handedOver)).toHaveLength(1)
  const other = engines({ kinds: [defineKind('step.plain', { payload: z.looseObject({}), run: () => {} })], lease: longLease })
  await other.start()
  for (const { id, handedOver } of ids) if (!handedOver) expect(await scene.ended(id)).toMatchObject({ attempt: 1 })
  frozen.signal('SIGCONT')
  for (const { id } of ids) expect(await scene.ended(id)).toMatchObject({ attempt: 1, state: 'succeeded' })
})
