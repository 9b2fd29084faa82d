/** Pause and resume by kind and by pool: the next claim stops at once, nothing is lost, and what waited comes back. */
import type pg from 'pg'
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { createTestKit } from '../testing/test-kit.ts'
import { defineKind } from './kind.ts'
import { retry } from './outcome.ts'

const mail = defineKind('mail', { run: () => {} })
const push = defineKind('push', { run: () => {} })
const heavy = defineKind('heavy', { pool: 'heavy', run: () => {} })

/** The kinds that a worker gets now. */
const claimed = async (client: pg.Client, pool = 'light'): Promise<string[]> => {
  await client.query(`insert into sluice.worker (id, name, lease_until) values (1000, 'test', 'infinity') on conflict do nothing`)
  const { rows } = await client.query(`select kind from sluice.claim($1, 1000, 100, -9e15::bigint, '{}')`, [pool])
  return rows.map(({ kind }) => kind)
}
const states = async (client: pg.Client): Promise<string[]> =>
  (await client.query('select sluice.state_of(shelf, worker)::text as state from sluice.job order by id')).rows.map(
    ({ state }) => state,
  )

test('[E-21] a pause of a kind stops the next claim at once, and other kinds go on', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail, push] })
  await engine.enqueueMany([mail({}), push({}), mail({})])
  await engine.pause({ scope: 'kind', name: 'mail' }, 'the provider is down')
  expect(await claimed(client)).toEqual(['push'])
  expect(await engine.resume({ scope: 'kind', name: 'mail' })).toBe(true)
  expect(await claimed(client)).toEqual(['mail', 'mail'])
})

test('[E-21] a pause of a pool stops the next claim of that pool at once, and other pools go on', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail, heavy] })
  await engine.enqueueMany([mail({}), heavy({})])
  await engine.pause({ scope: 'pool', name: 'heavy' })
  expect(await claimed(client, 'heavy')).toEqual([])
  expect(await claimed(client, 'light')).toEqual(['mail'])
  await engine.resume({ scope: 'pool', name: 'heavy' })
  expect(await claimed(client, 'heavy')).toEqual(['heavy'])
})

test('[E-21] the leader moves ready jobs of a paused kind aside and brings them back, in their old places', async ({
  engines,
  client,
}) => {
  const started: unknown[] = []
  const note = defineKind('note', { run: ({ payload }) => void started.push(payload['n']) })
  const engine = engines({ kinds: [note], pools: { light: { core: 1, max: 1 } } })
  await engine.pause({ scope: 'kind', name: 'note' })
  // Jobs that were ready before the pause: put there behind its back.
  await engine.enqueueMany([1, 2, 3].map((n) => note({ n })))
  await client.query(`update sluice.job set shelf = null`)
  await engine.start()
  await eventually(async () => (await states(client)).every((state) => state === 'paused'))
  expect(started).toEqual([])
  await engine.resume({ scope: 'kind', name: 'note' })
  await eventually(() => started.length === 3)
  expect(started).toEqual([1, 2, 3])
})

test('[E-21] a job that runs goes on when its kind is paused', async ({ engines }) => {
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
  await engine.pause({ scope: 'kind', name: 'slow' })
  end?.()
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')
})

test('[E-21] new jobs of a paused kind wait, whether they come one by one, in bulk or by SQL', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  await engine.pause({ scope: 'kind', name: 'mail' })
  await engine.enqueue(mail({}))
  await engine.enqueue(mail({}, { key: 'k' }))
  await engine.enqueue(mail({}, { key: 'd', dedupe: 'debounce' }))
  await engine.enqueueMany([mail({})])
  await client.query(`select sluice.enqueue('mail')`)
  expect(new Set(await states(client))).toEqual(new Set(['paused']))
  expect(await claimed(client)).toEqual([])
})

test('[E-21] a scheduled job of a paused kind waits when its time has come, and runs after the resume', async ({
  engines,
  client,
}) => {
  const started: unknown[] = []
  const note = defineKind('note', { run: () => void started.push(1) })
  const engine = engines({ kinds: [note] })
  await engine.start()
  await engine.pause({ scope: 'kind', name: 'note' })
  await engine.enqueue(note({}, { delay: 20 }))
  await eventually(async () => (await states(client))[0] === 'paused')
  expect(started).toEqual([])
  await engine.resume({ scope: 'kind', name: 'note' })
  await eventually(() => started.length === 1)
})

test('[E-21] a retry and a failed job that is retried by hand wait as well', async ({ database, engines, client }) => {
  const flaky = defineKind('flaky', { run: () => retry({ after: 0 }) })
  const kit = await createTestKit({ database: database.url, kinds: [flaky] })
  const engine = engines({ kinds: [flaky] })
  const job = await kit.enqueue(flaky({}, { attempts: 1 }))
  await kit.drain()
  await engine.pause({ scope: 'kind', name: 'flaky' })
  await engine.retry(job.id)
  expect(await states(client)).toEqual(['paused'])
  expect(await kit.drain()).toEqual([])
  await kit.close()
})

test('[E-21] canceling a paused job ends it', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  await engine.pause({ scope: 'kind', name: 'mail' })
  const { id } = await engine.enqueue(mail({}))
  expect(await engine.cancel(id)).toEqual(new Map([[id, 'canceled']]))
})

test('[E-21] pauses are listed with their reason, may be set twice, and are over once', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  await engine.pause({ scope: 'pool', name: 'light' }, 'disk full')
  await engine.pause({ scope: 'kind', name: 'mail' }, 'first')
  await engine.pause({ scope: 'kind', name: 'mail' }, 'second')
  for (const name of ['ann', 'bob']) await engine.pause({ scope: 'owner', name }, 'left')
  await engine.resume({ scope: 'owner', name: 'bob' })
  const [, { since }] = (await engine.pauses()) as [unknown, { since: Date }]
  await engine.pause({ scope: 'owner', name: 'ann' }, 'left for good')
  expect(await engine.pauses()).toEqual([
    { scope: 'kind', name: 'mail', reason: 'second', since: expect.any(Date) },
    { scope: 'owner', name: 'ann', reason: 'left for good', since },
    { scope: 'pool', name: 'light', reason: 'disk full', since: expect.any(Date) },
  ])
  expect(await engine.resume({ scope: 'kind', name: 'mail' })).toBe(true)
  expect(await engine.resume({ scope: 'kind', name: 'mail' })).toBe(false)
  expect(await engine.pauses()).toHaveLength(2)
})

test('[E-21] a pool or a kind that nobody names is not paused, for the one that was meant would run on', async ({ engines }) => {
  const engine = engines({ kinds: [mail, push] })
  for (const [scope, code] of [
    ['pool', 'UNKNOWN_POOL'],
    ['kind', 'UNKNOWN_KIND'],
  ] as const)
    await expect(engine.pause({ scope, name: 'typo' })).rejects.toMatchObject({
      code,
      message: expect.stringContaining('"typo"'),
    })
  expect(await engine.pauses()).toEqual([])
  await engine.enqueue(mail({}, { pool: 'nightly' }))
  await engine.pause({ scope: 'pool', name: 'nightly' }, 'of a waiting job')
  await engine.pause({ scope: 'pool', name: 'nightly' }, 'again')
  expect(await engine.pauses()).toMatchObject([{ name: 'nightly', reason: 'again' }])
})

test('[E-21] pauses end as they are listed', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  await engine.pause({ scope: 'kind', name: 'mail' }, 'for a while')
  await engine.pause({ scope: 'owner', name: 'ann' })
  for (const pause of await engine.pauses()) expect(await engine.resume(pause)).toBe(true)
  expect(await engine.pauses()).toEqual([])
  await expect(engine.resume({ scope: 'kind', nmae: 'mail' } as never)).rejects.toThrow(/Option resume: has no "nmae"/)
})

test('[E-21] a pause and a resume in a transaction of the caller hold if and only if it commits', async ({ engines }) => {
  const engine = engines({ kinds: [] })
  const ann = { scope: 'owner', name: 'ann' } as const
  const rolledBack = engine.transaction(async (client) => {
    await engine.pause(ann, 'token refused', { client })
    throw new Error('changed my mind')
  })
  await expect(rolledBack).rejects.toThrow('changed my mind')
  expect(await engine.pauses()).toEqual([])
  await engine.transaction((client) => engine.pause(ann, 'token refused', { client }))
  expect(await engine.pauses()).toMatchObject([{ ...ann, reason: 'token refused' }])
  await engine.transaction((client) => engine.resume(ann, { client }))
  expect(await engine.pauses()).toEqual([])
})

test('[E-21] jobs of several paused kinds, more than one batch of them, all step aside', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail, push] })
  await engine.enqueueMany([mail({}), mail({}), mail({}), push({})])
  await client.query(`update sluice.leader set term = 1, worker = 1, until = 'infinity'`)
  await engine.pause({ scope: 'kind', name: 'mail' })
  await engine.pause({ scope: 'kind', name: 'push' })
  // In batches of two: as long as the answer is yes, there is more to do.
  const parks = async () => (await client.query('select sluice.park(1, 2) as more')).rows[0].more
  while (await parks());
  expect(new Set(await states(client))).toEqual(new Set(['paused']))
})
