/** What becomes of a job after each outcome, in the tables: state, attempts, the time of the next try, the dead and how they come back. */
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'
import { cancel, done, fail, type Outcome, retry, snooze } from '../job/outcome.ts'
import { delays, once } from '../job/retry.ts'
import { createTestKit } from '../testing/test-kit.ts'

/** A kind whose attempts end one after the other as the list says. */
function script(...outcomes: (Outcome | Error | undefined)[]) {
  return defineKind('script', {
    retry: delays(['5m', '15m', '45m']),
    run() {
      const next = outcomes.shift()
      if (next instanceof Error) throw next
      return next
    },
  })
}

test('[E-10] done moves the job to the ledger', async ({ database, engines }) => {
  const kind = script(done())
  const kit = await createTestKit({ database: database.url, kinds: [kind] })
  const engine = engines({ kinds: [kind] })
  const job = await kit.enqueue(kind({ a: 1 }))
  expect(await kit.drain()).toMatchObject([{ id: job.id, attempt: 1, outcome: 'done', error: undefined }])
  const found = await engine.find(job.id)
  expect(found).toMatchObject({ state: 'succeeded', payload: { a: 1 }, attempt: 1, error: null, finishedAt: expect.any(Date) })
  await kit.close()
})

test('[E-06] a handler that throws is tried again after the delays of its kind, and then fails for good', async ({
  database,
  engines,
}) => {
  const kind = script(new Error('one'), new Error('two'), new Error('three'), new Error('four'))
  const kit = await createTestKit({ database: database.url, kinds: [kind] })
  const engine = engines({ kinds: [kind] })
  const job = await kit.enqueue(kind({}))
  const id = job.id
  expect(await kit.drain()).toMatchObject([{ attempt: 1, outcome: 'retry', error: 'one' }])
  expect(await kit.find(id)).toMatchObject({ state: 'scheduled', attempt: 1, error: { message: 'one' } })
  await kit.advance('4m')
  expect(await kit.drain()).toEqual([])
  await kit.advance('1m')
  expect(await kit.drain()).toMatchObject([{ attempt: 2, outcome: 'retry' }])
  await kit.advance('15m')
  expect(await kit.drain()).toMatchObject([{ attempt: 3, outcome: 'retry' }])
  await kit.advance('45m')
  expect(await kit.drain()).toMatchObject([{ attempt: 4, outcome: 'failed', error: 'four' }])
  await kit.advance('30d')
  expect(await kit.drain()).toEqual([])
  expect(await engine.failed()).toMatchObject([{ id, state: 'failed', attempt: 4, error: { message: 'four' } }])
  await kit.close()
})

test('[E-01] every attempt is a row with its start, end, worker and error with stack', async ({ database, engines }) => {
  const kind = script(new Error('one'), snooze('1m'), done())
  const kit = await createTestKit({ database: database.url, kinds: [kind] })
  const engine = engines({ kinds: [kind] })
  const job = await kit.enqueue(kind({}))
  const id = job.id
  await kit.drain()
  await kit.advance('5m')
  await kit.drain()
  await kit.advance('1m')
  await kit.drain()
  const attempts = await engine.attempts(id)
  expect(attempts).toMatchObject([
    { attempt: 1, outcome: 'retry', error: { message: 'one', stack: expect.stringContaining('outcomes.test.ts') } },
    { attempt: 2, outcome: 'snooze', error: null },
    { attempt: 2, outcome: 'succeeded', error: null },
  ])
  for (const { worker, startedAt, endedAt } of attempts) {
    expect(worker).toEqual(expect.any(Number))
    expect(endedAt?.getTime()).toBeGreaterThanOrEqual(startedAt?.getTime() ?? Number.NaN)
  }
  await kit.close()
})

test('[E-01] the attempt under way is among the attempts', async ({ engines }) => {
  let end: (() => void) | undefined
  const slow = defineKind('slow', {
    run: () =>
      new Promise<void>((resolve) => {
        end = resolve
      }),
  })
  const engine = engines({ kinds: [slow] })
  await engine.start()
  const { id } = await engine.enqueue(slow({}))
  await eventually(() => end !== undefined)
  expect(await engine.attempts(id)).toMatchObject([
    { attempt: 1, outcome: 'running', startedAt: expect.any(Date), endedAt: null },
  ])
  expect(await engine.find(id)).toMatchObject({ state: 'running', worker: engine.status().worker })
  end?.()
})

test('[E-10] retry with a delay of its own waits that long, and counts', async ({ database }) => {
  const kind = script(retry({ after: '10m', error: 'busy' }), done())
  const kit = await createTestKit({ database: database.url, kinds: [kind] })
  await kit.enqueue(kind({}))
  await kit.drain()
  await kit.advance('9m')
  expect(await kit.drain()).toEqual([])
  await kit.advance('1m')
  expect(await kit.drain()).toMatchObject([{ attempt: 2, outcome: 'done' }])
  await kit.close()
})

test('[E-10] retry at once does not wait for the leader', async ({ database }) => {
  const kind = script(retry({ after: 0 }), done())
  const kit = await createTestKit({ database: database.url, kinds: [kind] })
  await kit.enqueue(kind({}))
  expect(await kit.drain()).toMatchObject([{ attempt: 1 }, { attempt: 2, outcome: 'done' }])
  await kit.close()
})

test('[E-10] snooze burns no attempt, however often, for a while or until a date', async ({ database }) => {
  const naps = Array.from({ length: 10 }, () => snooze('1h'))
  const kind = script(...naps, snooze(new Date(Date.now() + 24 * 3_600_000)), done())
  const kit = await createTestKit({ database: database.url, kinds: [kind] })
  const job = await kit.enqueue(kind({}, { attempts: 1 }))
  for (let i = 0; i < 11; i++) {
    expect(await kit.drain()).toMatchObject([{ attempt: 1, outcome: 'snooze' }])
    expect(await kit.find(job.id)).toMatchObject({ state: 'scheduled', attempt: 0 })
    await kit.advance('1h')
  }
  expect(await kit.drain()).toEqual([])
  await kit.advance('13h')
  expect(await kit.drain()).toMatchObject([{ attempt: 1, outcome: 'done' }])
  await kit.close()
})

test.for<[string, Outcome]>([
  ['for no time', snooze(0)],
  ['until a time that has passed', snooze(new Date('2020-01-01'))],
])('[E-10] a snooze %s takes a second, so that it cannot go round and round', async ([, nap], { database }) => {
  const kind = script(nap, done())
  const kit = await createTestKit({ database: database.url, kinds: [kind] })
  const job = await kit.enqueue(kind({}))
  expect(await kit.drain()).toMatchObject([{ attempt: 1, outcome: 'snooze' }])
  expect(await kit.find(job.id)).toMatchObject({ state: 'scheduled', attempt: 0 })
  await kit.advance('1s')
  expect(await kit.drain()).toMatchObject([{ attempt: 1, outcome: 'done' }])
  await kit.close()
})

test('[E-10] fail ends the job at its first attempt and keeps it visible', async ({ database, engines }) => {
  const kind = script(fail(new Error('no such account')))
  const kit = await createTestKit({ database: database.url, kinds: [kind] })
  const engine = engines({ kinds: [kind] })
  await kit.enqueue(kind({}))
  expect(await kit.drain()).toMatchObject([{ attempt: 1, outcome: 'failed', error: 'no such account' }])
  expect(await engine.failed()).toMatchObject([{ attempt: 1, error: { message: 'no such account' } }])
  await kit.close()
})

test('[E-10] cancel ends the job without a failure, and its reason is kept', async ({ database, engines }) => {
  const kind = script(cancel('sold out'))
  const kit = await createTestKit({ database: database.url, kinds: [kind] })
  const engine = engines({ kinds: [kind] })
  const job = await kit.enqueue(kind({}))
  await kit.drain()
  expect(await engine.find(job.id)).toMatchObject({ state: 'canceled', error: { message: 'sold out' } })
  expect(await engine.failed()).toEqual([])
  await kit.close()
})

test('[E-06] a failed job that is retried by hand starts with a clean count', async ({ database, engines }) => {
  const kind = defineKind('flaky', {
    payload: z.object({}),
    retry: once,
    run: ({ attempt }, { broken }: { broken: boolean }) => (broken ? fail(`attempt ${attempt}`) : done()),
  })
  const services = { broken: true }
  const kit = await createTestKit({ database: database.url, kinds: [kind], services })
  const engine = engines({ kinds: [kind] })
  const job = await kit.enqueue(kind({}))
  const id = job.id
  await kit.drain()
  expect(await engine.retry(id)).toEqual(new Map([[id, 'retried']]))
  expect(await kit.drain()).toMatchObject([{ attempt: 1, outcome: 'failed' }])
  services.broken = false
  await engine.retry([id])
  expect(await kit.drain()).toMatchObject([{ attempt: 1, outcome: 'done' }])
  expect(await engine.retry([id, 999])).toEqual(
    new Map([
      [id, 'not failed'],
      [999, 'not failed'],
    ]),
  )
  expect(await engine.attempts(id)).toMatchObject([{ outcome: 'failed' }, { outcome: 'failed' }, { outcome: 'succeeded' }])
  await kit.close()
})

test('[E-06] a failed job that is discarded leaves for the ledger as failed', async ({ database, engines }) => {
  const kind = script(fail('no'))
  const kit = await createTestKit({ database: database.url, kinds: [kind] })
  const engine = engines({ kinds: [kind] })
  const [job, waiting] = [await kit.enqueue(kind({})), await kit.enqueue(kind({}, { delay: '1h' }))]
  await kit.drain()
  expect(await engine.discard([job.id, waiting.id])).toBe(1)
  expect(await engine.failed()).toEqual([])
  expect(await engine.find(job.id)).toMatchObject({
    state: 'failed',
    finishedAt: expect.any(Date),
    error: { message: 'no' },
  })
  expect(await engine.find(waiting.id)).toMatchObject({ state: 'scheduled' })
  await kit.close()
})

test.for([
  ['snooze', snooze('1h')],
  ['retry', new Error('not yet')],
] as const)(
  '[E-08] a suspect that ends by a %s is none any more, because its process lived',
  async ([, outcome], { client, engines }) => {
    const kind = script(outcome)
    const engine = engines({ kinds: [kind] })
    const { id } = await engine.enqueue(kind({}))
    await client.query('update sluice.job set crashes = 2')
    await engine.start()
    await eventually(async () => (await engine.find(id))?.state === 'scheduled')
    expect(await engine.find(id)).toMatchObject({ crashes: 0 })
  },
)

test('[E-06] failed jobs are listed page by page', async ({ database, engines }) => {
  const kind = script(...Array.from({ length: 5 }, () => fail('no')))
  const kit = await createTestKit({ database: database.url, kinds: [kind] })
  const engine = engines({ kinds: [kind] })
  const jobs = await kit.enqueueMany(Array.from({ length: 5 }, () => kind({})))
  await kit.drain()
  const first = await engine.failed({ limit: 3 })
  const second = await engine.failed({ limit: 3, after: first.at(-1)?.id ?? 0 })
  expect([...first, ...second].map(({ id }) => id)).toEqual(jobs.map(({ id }) => id))
  await kit.close()
})

test('[E-09] children and what was written are there if and only if the job is done', async ({ database, client }) => {
  await client.query('create table note (text text)')
  const child = defineKind('child', { run: () => {} })
  const parent = defineKind('parent', {
    retry: delays(['1s']),
    run: ({ attempt }) =>
      done({
        write: async (tx) => {
          await tx.query('insert into note values ($1)', [`attempt ${attempt}`])
          if (attempt === 1) throw new Error('at the last moment')
        },
        next: [child({ from: attempt })],
      }),
  })
  const kit = await createTestKit({ database: database.url, kinds: [parent, child] })
  const job = await kit.enqueue(parent({}))
  expect(await kit.drain()).toMatchObject([{ kind: 'parent', outcome: 'retry', error: 'at the last moment' }])
  expect((await client.query('select from note')).rowCount).toBe(0)
  await kit.advance('1s')
  const ran = await kit.drain()
  expect(ran).toMatchObject([
    { kind: 'parent', outcome: 'done' },
    { kind: 'child', outcome: 'done' },
  ])
  expect((await client.query('select text from note')).rows).toEqual([{ text: 'attempt 2' }])
  expect(await kit.find(ran[1]?.id ?? 0)).toMatchObject({ payload: { from: 2 }, parent: job.id, root: job.id })
  await kit.close()
})
