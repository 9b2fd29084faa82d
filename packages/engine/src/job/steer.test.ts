/** Cancel from outside: what is answered, which reason is kept, and how far a tree reaches. */
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { createTestKit } from '../testing/test-kit.ts'
import { defineKind } from './kind.ts'
import { done, fail, type Outcome } from './outcome.ts'
import { once } from './retry.ts'

test('[E-22] the reason of a cancel is kept with the job, whether it waited or ran', async ({ engines }) => {
  const slow = defineKind('slow', {
    run: ({ signal }) => new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  })
  const engine = engines({ kinds: [slow] })
  await engine.start()
  const running = await engine.enqueue(slow({}))
  const waiting = await engine.enqueue(slow({}, { delay: '1h' }))
  await eventually(async () => (await engine.find(running.id))?.state === 'running')
  expect(await engine.cancel(waiting.id, { reason: 'sold out' })).toEqual(new Map([[waiting.id, 'canceled']]))
  expect(await engine.cancel(running.id, { reason: 'sold out' })).toEqual(new Map([[running.id, 'requested']]))
  for (const { id } of [running, waiting]) {
    await eventually(async () => (await engine.find(id))?.state === 'canceled')
    expect(await engine.find(id)).toMatchObject({ error: { message: 'sold out' } })
  }
})

test('[E-22] a job that is finished or unknown is answered as not live', async ({ database, engines }) => {
  const quick = defineKind('quick', { run: () => {} })
  const kit = await createTestKit({ database: database.url, kinds: [quick] })
  const engine = engines({ kinds: [quick] })
  const { id } = await kit.enqueue(quick({}))
  await kit.drain()
  expect(await engine.cancel(id)).toEqual(new Map([[id, 'not live']]))
  expect(await engine.cancel(4711)).toEqual(new Map([[4711, 'not live']]))
  expect(await engine.find(id)).toMatchObject({ state: 'succeeded' })
  await kit.close()
})

test('[E-22] a tree reaches all that came from a job, past those that are finished, and nothing beside it', async ({
  database,
  engines,
}) => {
  const leaf = defineKind('leaf', { run: () => {} })
  const node = defineKind('node', {
    run: ({ payload }): Outcome =>
      done({
        next:
          payload['depth'] === 2
            ? [leaf({}, { delay: '1h' }), leaf({}, { delay: '1h' })]
            : [node({ depth: 2 }), node({ depth: 2 })],
      }),
  })
  const kit = await createTestKit({ database: database.url, kinds: [node, leaf] })
  const engine = engines({ kinds: [node, leaf] })
  const root = await kit.enqueue(node({ depth: 1 }))
  const neighbour = await kit.enqueue(node({ depth: 1 }))
  const ran = await kit.drain()
  const [branch] = ran.filter(({ id }) => id !== root.id && id !== neighbour.id)
  const byBranch = await engine.cancel(branch?.id ?? 0, { tree: true })
  expect([...byBranch.values()].filter((answer) => answer === 'canceled')).toHaveLength(2)
  const byRoot = await engine.cancel(root.id, { tree: true })
  const canceled = [...byBranch.values(), ...byRoot.values()].filter((answer) => answer === 'canceled')
  expect(canceled).toHaveLength(4)
  await kit.advance('1h')
  expect(await kit.drain()).toHaveLength(4)
  await kit.close()
})

test('[E-06] two people retry the same jobs, in opposite order: each is retried once, and neither waits for the other for ever', async ({
  client,
  engines,
}) => {
  const quick = defineKind('quick', { run: () => {} })
  const engine = engines({ kinds: [quick] })
  await engine.migrate()
  const { rows } = await client.query<{ id: number }>(
    `insert into sluice.job (kind, pool, shelf, rank, payload, max_attempts, created_at)
     select 'quick', 'light', 'failed', n, '{}', 5, now() from generate_series(1, 2000) n returning id::int`,
  )
  const ids = rows.map(({ id }) => id)
  const answers = await Promise.all([engine.retry(ids), engine.retry(ids.toReversed())])
  const retried = answers.flatMap((answer) => [...answer]).filter(([, answer]) => answer === 'retried')
  expect(retried.map(([id]) => id).toSorted((a, b) => a - b)).toEqual(ids)
})

test('[E-22] what is no number of a job is refused by whoever retries, discards or lists, and no other job is meant', async ({
  engines,
}) => {
  const broken = defineKind('broken', { retry: once, run: () => fail('broken') })
  const engine = engines({ kinds: [broken] })
  await engine.start()
  const jobs = await engine.enqueueMany([broken({}), broken({}), broken({})])
  const failed = async () => (await engine.failed()).map(({ id }) => id)
  await eventually(async () => (await failed()).length === 3)
  const refused = { code: 'INVALID_OPTION' }
  for (const ids of ['23', '2', null, [1.5], ['2'], { id: 2 }] as never[]) {
    await expect(engine.retry(ids), JSON.stringify(ids)).rejects.toMatchObject(refused)
    await expect(engine.discard(ids), JSON.stringify(ids)).rejects.toMatchObject(refused)
  }
  for (const page of [{ limit: 0 }, { limit: 'x' }, { after: 'x' }, { limt: 1 }] as never[])
    await expect(engine.failed(page), JSON.stringify(page)).rejects.toMatchObject(refused)
  expect(await failed()).toEqual(jobs.map(({ id }) => id))
})
