/**
 * No handler holds a job or a slot for ever: past its kind's limit it is told to stop, its attempt counts, and whatever it still does
 * changes nothing.
 */
import { defineKind, delays, done, once } from '@sluice/engine'
import { expect } from 'vitest'
import { eventually, test } from '../support/database.ts'

const oneSlot = { light: { core: 1, max: 1 } }
const forEver = new Promise<void>(() => {})

test('[E-29] a hung handler is aborted, the attempt counts, and the job runs again', async ({ engines }) => {
  const told: unknown[] = []
  const hangs = defineKind('hangs', {
    timeout: '100ms',
    retry: delays(['1ms']),
    async run({ attempt, signal }) {
      if (attempt > 1) return
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      told.push(signal.reason)
      signal.throwIfAborted()
    },
  })
  const engine = engines({ kinds: [hangs] })
  const { id } = await engine.enqueue(hangs({}))
  await engine.start()
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')

  expect(told).toMatchObject([{ code: 'HANDLER_TIMED_OUT' }])
  expect(await engine.attempts(id)).toMatchObject([
    { attempt: 1, outcome: 'retry', error: { code: 'HANDLER_TIMED_OUT', message: expect.stringContaining('100 ms') } },
    { attempt: 2, outcome: 'succeeded' },
  ])
})

test('[E-29] a handler that ignores its signal holds neither slot nor job', async ({ engines }) => {
  const deaf = defineKind('deaf', { timeout: '100ms', retry: once, run: () => forEver })
  const next = defineKind('next', { run: () => {} })
  const engine = engines({ kinds: [deaf, next], pools: oneSlot })
  const [stuck, behind] = await engine.enqueueMany([deaf({}), next({})])
  await engine.start()
  await eventually(async () => (await engine.find(behind!.id))?.state === 'succeeded')

  // The slot is free a moment before the end of the one that held it is stored.
  await eventually(async () => (await engine.find(stuck!.id))?.state === 'failed')
  expect(await engine.find(stuck!.id)).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'HANDLER_TIMED_OUT' } })
  await eventually(() => engine.status().running === 0)
})

test('[E-29] what a timed-out handler says too late changes nothing', async ({ client, engines }) => {
  await client.query('create table effect (attempt integer)')
  let finish: () => void = () => {}
  const late = new Promise<void>((resolve) => {
    finish = resolve
  })
  let ended = false
  const slow = defineKind('slow', {
    timeout: '100ms',
    retry: delays(['1ms']),
    async run({ attempt }) {
      if (attempt === 1) await late
      ended ||= attempt === 1
      return done({
        write: (tx) => tx.query('insert into effect values ($1)', [attempt]),
        next: [{ kind: 'child', payload: { attempt } }],
      })
    },
  })
  const child = defineKind('child', { run: () => {} })
  const engine = engines({ kinds: [slow, child] })
  const { id } = await engine.enqueue(slow({}))
  await engine.start()
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')

  finish()
  await eventually(() => ended)
  // A job that comes after it has gone the whole way, so the late one would have been settled by now.
  const after = await engine.enqueue(child({ attempt: 0 }))
  await eventually(async () => (await engine.find(after.id))?.state === 'succeeded')
  await eventually(async () => (await client.query('select from sluice.job')).rowCount === 0)
  expect((await client.query('select attempt from effect')).rows).toEqual([{ attempt: 2 }])
  const { rows } = await client.query(`select payload from sluice.job_ledger where kind = 'child' order by id`)
  expect(rows).toEqual([{ payload: { attempt: 2 } }, { payload: { attempt: 0 } }])
})

test('[E-29] a job that hangs every time ends as failed', async ({ engines }) => {
  const hopeless = defineKind('hopeless', { timeout: '50ms', retry: delays(['1ms', '1ms']), run: () => forEver })
  const engine = engines({ kinds: [hopeless] })
  const { id } = await engine.enqueue(hopeless({}))
  await engine.start()
  await eventually(async () => (await engine.find(id))?.state === 'failed')
  expect((await engine.attempts(id)).map(({ attempt, outcome }) => ({ attempt, outcome }))).toEqual([
    { attempt: 1, outcome: 'retry' },
    { attempt: 2, outcome: 'retry' },
    { attempt: 3, outcome: 'failed' },
  ])
})
