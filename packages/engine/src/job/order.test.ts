/** The order of claims: priority first, then age, and age wins in the end. Jobs are claimed one at a time, as strictly as it gets. */
import fc from 'fast-check'
import type pg from 'pg'
import { expect } from 'vitest'
import { test } from '../../../../test/support/database.ts'
import { createTestKit } from '../testing/test-kit.ts'
import { defineKind } from './kind.ts'
import { done } from './outcome.ts'

const minuteMs = 60_000
const job = defineKind('job', { run: () => {} })

/** Turns the clock of this connection to so many ms after the first turn. */
const at = (client: pg.Client, ms: number): Promise<unknown> =>
  client.query(`select set_config('sluice.clock_offset', $1, false)`, [`${ms} milliseconds`])

/** A process that lives for ever, so that jobs can be claimed for it. */
const registerWorker = `insert into sluice.worker (id, name, lease_until) values (1000, 'test', 'infinity') on conflict do nothing`

/** Claims one at a time until nothing is left. */
async function claimAll(client: pg.Client): Promise<number[]> {
  await client.query(registerWorker)
  const order: number[] = []
  for (;;) {
    const { rows } = await client.query<{ n: number }>(
      `select (payload::jsonb -> 'n')::int as n from sluice.claim('light', 1000, 1, -9e15::bigint, '{}')`,
    )
    if (!rows[0]) return order
    order.push(rows[0].n)
  }
}

test('[E-03] jobs of one priority are claimed in the order in which they came, also within one bulk', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [job] })
  await engine.enqueue(job({ n: 0 }))
  await engine.enqueueMany(Array.from({ length: 50 }, (_, index) => job({ n: index + 1 })))
  await engine.enqueue(job({ n: 51 }))
  expect(await claimAll(client)).toEqual(Array.from({ length: 52 }, (_, index) => index))
})

test('[E-03] a higher priority goes first, whenever it came', async ({ engines, client }) => {
  const engine = engines({ kinds: [job] })
  const priorities = [0, 10, -5, 10, 1_000, 0, -1_000]
  await engine.enqueueMany(priorities.map((priority, n) => job({ n }, { priority })))
  expect(await claimAll(client)).toEqual([4, 1, 3, 0, 5, 2, 6])
})

test('[E-03] a claim of many is the same jobs as many claims of one', async ({ engines, client }) => {
  const engine = engines({ kinds: [job] })
  await engine.enqueueMany(Array.from({ length: 40 }, (_, n) => job({ n }, { priority: n % 7 })))
  await client.query(registerWorker)
  const { rows } = await client.query(`
    with c as (select (payload::jsonb -> 'n')::int as n from sluice.claim('light', 1000, 10, -9e15::bigint, '{}'))
    select array_agg(n) as first from c`)
  const rest = await claimAll(client)
  expect([...rows[0].first].every((n: number) => n % 7 >= 5)).toBe(true)
  expect(rest).toHaveLength(30)
})

test('[E-04] a low priority waits at most its distance times the step, however many more important jobs keep coming', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [job], priorityStep: '1m' })
  await engine.migrate()
  const enqueue = (n: number, priority: number) => engine.enqueue(job({ n }, { priority }), { client })
  await enqueue(0, 0)
  await at(client, 10 * minuteMs - 5_000)
  await enqueue(1, 10)
  await at(client, 10 * minuteMs + 5_000)
  await enqueue(2, 10)
  // 1 came less than ten minutes after 0 and overtakes it; 2 came more than ten minutes after it and does not.
  expect(await claimAll(client)).toEqual([1, 0, 2])
})

test('[E-04] whatever arrives when, a job is overtaken only by those that came less than (distance × step) after it', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [job], priorityStep: '1m' })
  await engine.migrate()
  const arrivals = fc.array(fc.record({ waitMs: fc.nat(5 * minuteMs), priority: fc.integer({ min: -3, max: 3 }) }), {
    minLength: 2,
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(arrivals, async (list) => {
      await client.query('truncate sluice.job')
      // Real time goes on as well between two enqueues: nobody knows more than between which two moments one came.
      const came: { fromMs: number; toMs: number; priority: number }[] = []
      let ms = 0
      for (const [n, { waitMs, priority }] of list.entries()) {
        ms += waitMs
        await at(client, ms)
        const beforeMs = Date.now()
        await engine.enqueue(job({ n }, { priority }), { client })
        came.push({ fromMs: ms + beforeMs, toMs: ms + Date.now() + 1, priority })
      }
      const order = await claimAll(client)
      order.forEach((n, place) => {
        for (const overtaken of order.slice(place + 1)) {
          const [first, second] = [came[n], came[overtaken]] as [(typeof came)[0], (typeof came)[0]]
          expect(first.fromMs - second.toMs).toBeLessThanOrEqual((first.priority - second.priority) * minuteMs)
        }
      })
    }),
    { numRuns: 25 },
  )
})

test('[E-03] finish first: children of a higher priority go before new discoveries that waited longer', async ({ database }) => {
  const page = defineKind('page', { priority: 10, run: () => {} })
  const discovery = defineKind('discovery', {
    priority: 1,
    run: ({ payload }) => done({ next: [1, 2].map((n) => page({ of: payload['n'], n })) }),
  })
  const kit = await createTestKit({ database: database.url, kinds: [discovery, page] })
  await kit.enqueueMany([1, 2, 3].map((n) => discovery({ n })))
  const ran = await kit.drain()
  expect(ran.map(({ kind }) => kind)).toEqual(Array.from({ length: 3 }, () => ['discovery', 'page', 'page']).flat())
  await kit.close()
})

test('[E-03] a delayed job takes its place from the time at which it falls due', async ({ engines, client }) => {
  const engine = engines({ kinds: [job] })
  await engine.migrate()
  await engine.enqueue(job({ n: 0 }, { delay: '10s' }), { client })
  await at(client, 5_000)
  await engine.enqueue(job({ n: 1 }), { client })
  await at(client, 20_000)
  await client.query(`update sluice.leader set term = 1, worker = 1, until = 'infinity'`)
  await client.query('select sluice.promote(1, 10)')
  await engine.enqueue(job({ n: 2 }), { client })
  expect(await claimAll(client)).toEqual([1, 0, 2])
})

test('[E-03] two workers never get the same job', async ({ engines, database, client }) => {
  const engine = engines({ kinds: [job] })
  await engine.enqueueMany(Array.from({ length: 200 }, (_, n) => job({ n })))
  const { default: pg } = await import('pg')
  const other = new pg.Client(database.url)
  await other.connect()
  const both = await Promise.all([claimAll(client), claimAll(other)])
  expect(both.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n))
  await other.end()
})

test('[E-04] a time that has passed is no better place in the queue than now', async ({ engines, client }) => {
  const late = defineKind('late', { run: () => {} })
  const engine = engines({ kinds: [late] })
  const long = new Date(0)
  await engine.enqueue(late({ n: 1 }))
  await engine.enqueueMany([late({ n: 2 }, { runAt: long }), late({ n: 3 }, { priority: 1 })])
  await engine.enqueue(late({ n: 4 }, { runAt: long, priority: -1, dedupe: 'replace', key: 'x' }))
  await client.query(`select sluice.enqueue('late', '{"n": 5}', run_at => '1970-01-01Z')`)
  const { rows } = await client.query<{ n: number }>(`select (payload ->> 'n')::int as n from sluice.job order by rank, id`)
  expect(rows.map(({ n }) => n)).toEqual([3, 1, 2, 5, 4])
})
