/**
 * No handler holds a job or a slot for ever: past its kind's limit it is told to stop, its attempt counts, and whatever it still does
 * changes nothing.
 */
import { defineKind, delays, done, once, type TransactionClient } from '@sluice/engine'
import { expect } from 'vitest'
import { eventually, test } from '../support/database.ts'
import { withOnlooker } from '../support/onlooker.ts'

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

/** As many as writes are under way at once. */
const writesAtOnce = 8
const manySlots = { light: { core: 20, max: 20 } }
const writes: [name: string, write: (tx: TransactionClient) => Promise<unknown>][] = [
  ['that waits for nothing that comes', () => forEver],
  ['whose statement takes too long', (tx) => tx.query('select pg_sleep(600)')],
]

test.for(writes)(
  '[E-29] a write %s ends with the limit of its kind: its attempt counts, and no other write or stop waits for it',
  async ([_name, write], { client, engines }) => {
    const hung = defineKind('hung', { timeout: '500ms', retry: once, run: () => done({ write }) })
    const good = defineKind('good', { run: () => done({ write: (tx) => tx.query('select 1') }) })
    const engine = engines({ kinds: [hung, good], pools: manySlots })
    await engine.start()
    const jobs = await engine.enqueueMany([...Array.from({ length: writesAtOnce }, () => hung({})), good({})])
    await eventually(async () => (await engine.find(jobs.at(-1)!.id))?.state === 'succeeded', 10_000)
    await eventually(async () => (await engine.failed()).length === writesAtOnce, 10_000)
    expect(await engine.find(jobs[0]!.id)).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'HANDLER_TIMED_OUT' } })
    // Nor does a statement of theirs go on by itself.
    await eventually(async () => {
      const { rows } = await client.query(
        `select from pg_stat_activity where datname = current_database() and state <> 'idle' and application_name = 'sluice pool'`,
      )
      return rows.length === 0
    }, 10_000)
    await engine.stop()
  },
)

test('[E-29] a write that does nothing for a whole lease is a failed attempt', async ({ engines }) => {
  let begun = 0
  const asleep = defineKind('asleep', {
    retry: once,
    run: () =>
      done({
        write: () => {
          begun++
          return forEver
        },
      }),
  })
  const engine = engines({ kinds: [asleep], lease: '1s' })
  await engine.start()
  const { id } = await engine.enqueue(asleep({}))
  await eventually(async () => (await engine.find(id))?.state === 'failed', 10_000)
  expect((await engine.find(id))?.error?.message).toMatch(/idle-in-transaction timeout/)
  expect(begun).toBe(1)
})

test('[E-23] [E-29] a process that stops leaves a write behind that never ends', async ({ database, engines }) => {
  const hung = defineKind('hung', { run: () => done({ write: () => forEver }) })
  const engine = engines({ kinds: [hung], lease: '1m', grace: '100ms' })
  await engine.start()
  await engine.enqueue(hung({}))
  await withOnlooker(database.url, (onlooker) =>
    eventually(
      async () =>
        (
          await onlooker.query(
            `select from pg_stat_activity where state = 'idle in transaction' and datname = current_database()`,
          )
        ).rowCount === 1,
    ),
  )
  await engine.stop()
})
