/** Delayed jobs start at their time: the leader sleeps until the next one and is woken when something earlier arrives. */
import sql from 'sql-template-tag'
import { expect, vi } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { sendsBeatsOnly } from '../../../../test/support/idle.ts'
import { Database } from '../postgres/database.ts'
import { defineKind } from './kind.ts'

/** A kind that notes when each of its jobs started. */
function notes() {
  const started = new Map<unknown, number>()
  const note = defineKind('note', { run: ({ payload }) => void started.set(payload['n'], Date.now()) })
  return { note, started }
}

test('[E-11] a delayed job starts at its time, and not before', async ({ engines }) => {
  const { note, started } = notes()
  // No heartbeat comes to help.
  const engine = engines({ kinds: [note], lease: '10m' })
  await engine.start()
  const runAt = new Date(Date.now() + 300)
  await engine.enqueue(note({ n: 1 }, { runAt }))
  const dueMs = Date.now() + 600
  await engine.enqueue(note({ n: 2 }, { delay: 600 }))
  await eventually(() => started.size === 2)
  expect(started.get(1)).toBeGreaterThanOrEqual(runAt.getTime())
  expect(started.get(2)).toBeGreaterThanOrEqual(dueMs)
})

test('[E-11] a job that falls due earlier than all others wakes the leader, from wherever it was enqueued', async ({
  engines,
  client,
}) => {
  const { note, started } = notes()
  const engine = engines({ kinds: [note], lease: '60s' })
  const elsewhere = engines({ kinds: [note] })
  await engine.start()
  // With a lease of a minute no heartbeat comes to help.
  await engine.enqueue(note({ n: 'tomorrow' }, { delay: '1d' }))
  await engine.enqueue(note({ n: 'here' }, { delay: 50 }))
  await elsewhere.enqueue(note({ n: 'elsewhere' }, { delay: 50 }))
  await client.query(`select sluice.enqueue('note', '{"n": "sql"}', delay => '50 ms')`)
  await client.query('begin')
  await engine.enqueue(note({ n: 'transaction' }, { delay: 50 }), { client })
  await client.query('commit')
  await eventually(() => started.size === 4)
  expect(started.has('tomorrow')).toBe(false)
})

test('[E-11] a burst of delayed jobs wakes the leader even though most of them are enqueued silently', async ({ engines }) => {
  const { note, started } = notes()
  const engine = engines({ kinds: [note], lease: '60s' })
  await engine.start()
  await engine.enqueue(note({ n: 'first' }, { delay: '1d' }))
  await Promise.all(Array.from({ length: 50 }, (_, n) => engine.enqueue(note({ n }, { delay: 100 + n }))))
  await eventually(() => started.size === 50)
})

test('[E-11] a due job in somebody’s hand is looked at four times a second, and one that falls due after it is on time', async ({
  engines,
  client,
}) => {
  const { note } = notes()
  const engine = engines({ kinds: [note] })
  const { id } = await engine.enqueue(note({ n: 1 }, { delay: 1 }))
  await engine.enqueue(note({ n: 2 }, { delay: '1h' }))
  const other = await engine.enqueue(note({ n: 3 }, { delay: '1d' }))
  await client.query(`update sluice.leader set term = 1, worker = 1, until = 'infinity'`)
  const promote = async () => (await engine.query<Promoted>(sql`select moved, due_ms from sluice.promote(1, 100)`)).rows[0]
  await client.query('begin')
  await client.query('select from sluice.job where id = $1 for update', [id])
  expect(await promote()).toEqual({ moved: 0, due_ms: 250 })
  await engine.query(sql`update sluice.job set run_at = sluice.now() + interval '100 ms' where id = ${other.id}`)
  expect((await promote())?.due_ms).toBeLessThanOrEqual(100)
  await client.query('rollback')
  expect((await promote())?.moved).toBeGreaterThan(0)
})

interface Promoted {
  moved: number
  due_ms: number
}

test('[E-11] a retry starts at its time as well', async ({ engines }) => {
  const attempts: number[] = []
  const flaky = defineKind('flaky', {
    retry: { attempts: 2, delayMs: () => 80 },
    run() {
      attempts.push(Date.now())
      if (attempts.length === 1) throw new Error('not yet')
    },
  })
  const engine = engines({ kinds: [flaky], lease: '60s' })
  await engine.start()
  await engine.enqueue(flaky({}))
  await eventually(() => attempts.length === 2)
  const [first = 0, second = 0] = attempts
  expect(second - first).toBeGreaterThanOrEqual(80)
})

test('[E-11] an idle engine with jobs for tomorrow sends heartbeats and nothing else', async ({ engines }) => {
  const { note } = notes()
  const engine = engines({ kinds: [note], lease: '1s' })
  await engine.start()
  await engine.enqueueMany(Array.from({ length: 10 }, (_, n) => note({ n }, { delay: '1d' })))
  await eventually(() => engine.status().leads && engine.status().wakeUps === 'notifications')
  await sendsBeatsOnly(vi.spyOn(Database.prototype, 'send'), vi.spyOn(Database.prototype, 'query'))
  vi.restoreAllMocks()
}, 90_000)
