/** Dedupe mode `again`: a job that is asked for while it runs, runs once more afterwards; whenever, and however, the running one ends. */
import type pg from 'pg'
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { createTestKit } from '../testing/test-kit.ts'
import { defineKind } from './kind.ts'
import { done, fail } from './outcome.ts'
import type { JobRequest } from './request.ts'
import { once } from './retry.ts'

/** Jobs that stay in their handler until the test ends them. */
function gate() {
  const running: { payload: unknown; end: () => void; fail: () => void }[] = []
  const sync = defineKind('sync', {
    dedupe: 'again',
    key: () => 'repo',
    retry: once,
    run: ({ payload, signal }) =>
      new Promise<void>((resolve, reject) => {
        running.push({ payload, end: resolve, fail: () => reject(new Error('no')) })
        signal.addEventListener('abort', () => reject(new Error('stopped')))
      }),
  })
  return { sync, running }
}

test('[E-05] again: while the job waits, a second one is the same job', async ({ engines }) => {
  const { sync } = gate()
  const engine = engines({ kinds: [sync] })
  const first = await engine.enqueue(sync({ n: 1 }))
  expect(await engine.enqueue(sync({ n: 2 }))).toEqual({ id: first.id, created: false })
})

test('[E-05] again: while the job runs, one more waits for its end, and a third is that one', async ({ engines }) => {
  const { sync, running } = gate()
  const engine = engines({ kinds: [sync] })
  await engine.start()
  await engine.enqueue(sync({ n: 1 }))
  await eventually(() => running.length === 1)
  const second = await engine.enqueue(sync({ n: 2 }))
  expect(second.created).toBe(true)
  expect(await engine.enqueue(sync({ n: 3 }))).toEqual({ id: second.id, created: false })
  expect(await engine.why(second.id)).toMatchObject({ reason: 'waiting for another job' })
  expect(await engine.find(second.id)).toMatchObject({ state: 'scheduled', runAt: null })
  running[0]?.end()
  await eventually(() => running.length === 2)
  expect(running.map(({ payload }) => payload)).toEqual([{ n: 1 }, { n: 2 }])
  running[1]?.end()
  await eventually(async () => (await engine.find(second.id))?.state === 'succeeded')
})

test('[E-05] again: the one more runs also when the running one fails or is canceled', async ({ engines }) => {
  const { sync, running } = gate()
  const engine = engines({ kinds: [sync] })
  await engine.start()
  await engine.enqueue(sync({ n: 1 }))
  await eventually(() => running.length === 1)
  const second = await engine.enqueue(sync({ n: 2 }))
  running[0]?.fail()
  await eventually(() => running.length === 2)
  await engine.enqueue(sync({ n: 3 }))
  await engine.cancel(second.id)
  await eventually(() => running.length === 3)
  expect(await engine.find(second.id)).toMatchObject({ state: 'canceled' })
  expect(await engine.failed()).toHaveLength(1)
  running[2]?.end()
})

test('[E-05] again: a follower that commits after the running job has ended is found by the leader’s beat', async ({
  engines,
  client,
}) => {
  const { sync, running } = gate()
  const engine = engines({ kinds: [sync], lease: '6s' })
  await engine.start()
  const first = await engine.enqueue(sync({ n: 1 }))
  await eventually(() => running.length === 1)
  await client.query('begin')
  const second = await engine.enqueue(sync({ n: 2 }), { client })
  expect(second.created).toBe(true)
  running[0]?.end()
  await eventually(async () => (await engine.find(first.id))?.state === 'succeeded')
  await client.query('commit')
  await eventually(() => running.length === 2)
  running[1]?.end()
})

test('[E-05] again: a follower of a job whose key is kept by another mode waits for its end as well', async ({ engines }) => {
  const { sync, running } = gate()
  const engine = engines({ kinds: [sync], lease: '6s' })
  await engine.start()
  await engine.enqueue(sync({ n: 1 }, { dedupe: 'keep' }))
  await eventually(() => running.length === 1)
  expect(await engine.enqueue(sync({ n: 2 }))).toMatchObject({ created: true })
  running[0]?.end()
  await eventually(() => running.length === 2)
  running[1]?.end()
})

test('[E-05] again: a delay of the follower counts from the end of the running job at the earliest', async ({
  database,
  client,
}) => {
  const seen: unknown[] = []
  const sync = defineKind('sync', { dedupe: 'again', key: () => 'repo', run: ({ payload }) => void seen.push(payload) })
  const kit = await createTestKit({ database: database.url, kinds: [sync] })
  await kit.enqueue(sync({ n: 1 }))
  const held = await claim(client)
  await kit.enqueue(sync({ n: 2 }, { delay: '1h' }))
  await client.query('select sluice.settle_done(array[$1::bigint], array[$2::bigint], true)', [held.id, held.fence])
  expect(await kit.drain()).toEqual([])
  await kit.advance('1h')
  expect(await kit.drain()).toHaveLength(1)
  expect(seen).toEqual([{ n: 2 }])
  await kit.close()
})

test('[E-05] again: a job that asks for itself in its own handler runs once more and no oftener', async ({ database }) => {
  const requests: JobRequest[] = []
  let runs = 0
  const sync = defineKind('sync', {
    dedupe: 'again',
    key: () => 'repo',
    run: () => (++runs > 10 ? fail('for ever') : done({ next: runs === 1 ? [...requests, ...requests] : [] })),
  })
  requests.push(sync({}))
  const kit = await createTestKit({ database: database.url, kinds: [sync] })
  await kit.enqueue(sync({}))
  await kit.drain()
  expect(runs).toBe(2)
  await kit.close()
})

async function claim(client: pg.Client): Promise<{ id: string; fence: string }> {
  await client.query(`insert into sluice.worker (id, name, lease_until) values (1000, 'test', 'infinity')`)
  return (await client.query(`select id, fence from sluice.claim('light', 1000, 1, -9e15::bigint, '{}')`)).rows[0]
}
