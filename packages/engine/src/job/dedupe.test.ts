/** Dedupe while a job is active: what a key covers, whom it belongs to, when it is free again, and what each mode does to the second job. */
import pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { createTestKit } from '../testing/test-kit.ts'
import { defineKind } from './kind.ts'
import { done, fail } from './outcome.ts'
import { once } from './retry.ts'

const mail = defineKind('mail', { retry: once, run: ({ payload }) => (payload['bad'] ? fail('bad') : done()) })
const push = defineKind('push', { run: () => {} })

/** A process that lives for ever, so that jobs can be claimed for it. */
const registerWorker = `insert into sluice.worker (id, name, lease_until) values (1000, 'test', 'infinity') on conflict do nothing`
/** Takes the next job as a worker would, and says how it ended. */
const claim = async (client: pg.Client): Promise<{ id: string; fence: string }> => {
  await client.query(registerWorker)
  return (await client.query(`select id, fence from sluice.claim('light', 1000, 1, -9e15::bigint, '{}')`)).rows[0]
}
const settle = (client: pg.Client, { id, fence }: { id: string; fence: string }, outcome: string): Promise<unknown> =>
  client.query(
    `select sluice.settle(1000, array[$1::bigint], array[$2::bigint], array[$3], array[0::float8], array[null::timestamptz], array[null::jsonb], array[0], null, true)`,
    [id, fence, outcome],
  )

test('[E-05] keep: while a job is scheduled, ready, paused or running, a second one with its key is the same job', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [mail] })
  const again = () => engine.enqueue(mail({ second: true }, { key: 'ann' }))
  const { id, created } = await engine.enqueue(mail({ first: true }, { key: 'ann', delay: '1h' }))
  expect(created).toBe(true)
  expect(await again()).toEqual({ id, created: false })
  for (const shelf of [null, 'paused']) {
    await client.query(`update sluice.job set shelf = $1, run_at = null`, [shelf])
    expect(await again()).toEqual({ id, created: false })
  }
  await client.query(`update sluice.job set shelf = null`)
  const held = await claim(client)
  expect(await again()).toEqual({ id, created: false })
  expect(await engine.find(id)).toMatchObject({ state: 'running', payload: { first: true } })
  await settle(client, held, 'done')
  expect(await again()).toMatchObject({ created: true })
})

test('[E-05] a key is let go when its job is canceled', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  const { id } = await engine.enqueue(mail({}, { key: 'ann' }))
  await engine.cancel(id)
  expect(await engine.enqueue(mail({}, { key: 'ann' }))).toMatchObject({ created: true })
})

test('[E-05] a failed job lets its key go, and cannot be retried while another holds it', async ({ database, engines }) => {
  const kit = await createTestKit({ database: database.url, kinds: [mail] })
  const engine = engines({ kinds: [mail] })
  const dead = await engine.enqueue(mail({ bad: true }, { key: 'ann' }))
  await kit.drain()
  const fresh = await engine.enqueue(mail({}, { key: 'ann' }))
  expect(fresh.created).toBe(true)
  expect(await engine.retry(dead.id)).toEqual(new Map([[dead.id, 'conflict']]))
  expect(await engine.find(dead.id)).toMatchObject({ state: 'failed' })
  await kit.drain()
  expect(await engine.retry(dead.id)).toEqual(new Map([[dead.id, 'retried']]))
  expect(await engine.enqueue(mail({}, { key: 'ann' }))).toEqual({ id: dead.id, created: false })
  await kit.close()
})

test('[E-05] a key belongs to its kind: two kinds with the same key do not swallow each other’s jobs', async ({ engines }) => {
  const engine = engines({ kinds: [mail, push] })
  await engine.enqueue(mail({}, { key: 'ann' }))
  expect(await engine.enqueue(push({}, { key: 'ann' }))).toMatchObject({ created: true })
})

test('[E-05] the default key is made of owner and canonical payload', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  const first = await engine.enqueue(mail({ a: 1, b: [{ c: 2, d: 3 }] }, { dedupe: 'keep' }))
  const same = await engine.enqueue(mail({ b: [{ d: 3, c: 2 }], a: 1 }, { dedupe: 'keep' }))
  expect(same).toEqual({ id: first.id, created: false })
  for (const other of [mail({ a: 1 }, { dedupe: 'keep' }), mail({ a: 1, b: [{ c: 2, d: 3 }] }, { dedupe: 'keep', owner: 'ann' })])
    expect(await engine.enqueue(other)).toMatchObject({ created: true })
})

test('[E-05] the default key is the same from TypeScript and from plain SQL', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  const payload = { text: 'ä 💥 "\\', n: 1.5, list: [true, null], deep: { z: 1, a: 2 } }
  const { id } = await engine.enqueue(mail(payload, { dedupe: 'keep', owner: 'ann' }))
  const { rows } = await client.query(`select id, created from sluice.enqueue('mail', $1, mode => 'keep', owner => 'ann')`, [
    payload,
  ])
  expect(rows).toEqual([{ id: String(id), created: false }])
})

test('[E-05] the default key is the same by every way in, for payloads that stand for themselves and for longer ones', async ({
  engines,
  client,
}) => {
  const note = defineKind('note', { dedupe: 'keep', run: () => {} })
  const engine = engines({ kinds: [note] })
  for (const text of ['x', 'ä'.repeat(26), 'x'.repeat(52), 'x'.repeat(53), 'x'.repeat(500)]) {
    const { id } = await engine.enqueue(note({ text }))
    const again = { id, created: false }
    expect(await engine.enqueueMany([note({ text }), note({ text })]), text).toEqual([again, again])
    expect(await engine.enqueueMany([note({ text }, { priority: 1 })]), text).toEqual([again])
    const { rows } = await client.query(`select id::int, created from sluice.enqueue('note', $1)`, [{ text }])
    expect(rows, text).toEqual([again])
    expect(await engine.enqueue(note({ text }, { owner: 'ann' })), text).toMatchObject({ created: true })
  }
  const { rows } = await client.query<{ sort: string }>(
    `select substr(key, 5, 1) as sort from sluice.job where owner is null order by id`,
  )
  expect(rows.map(({ sort }) => sort).join('')).toBe('===##')
})

test('[E-05] a kind says how its jobs are deduped, and none lets one through nevertheless', async ({ engines }) => {
  const daily = defineKind('daily', { dedupe: 'keep', uniqueFor: '1d', run: () => {} })
  const engine = engines({ kinds: [daily] })
  const { id } = await engine.enqueue(daily({ day: 1 }))
  expect(await engine.enqueue(daily({ day: 1 }))).toEqual({ id, created: false })
  expect(await engine.enqueue(daily({ day: 1 }, { dedupe: 'none' }))).toMatchObject({ created: true })
})

test('jobs without a key and a mode all run', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  const made = await engine.enqueueMany([mail({}), mail({}), mail({})])
  expect(new Set(made.map(({ id }) => id)).size).toBe(3)
})

test('[E-05] replace: the payload of a job that waits is replaced, its time and place are kept', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  const { id } = await engine.enqueue(mail({ n: 1 }, { key: 'ann', dedupe: 'replace', delay: '1h' }))
  const before = await engine.find(id)
  expect(await engine.enqueue(mail({ n: 2 }, { key: 'ann', dedupe: 'replace' }))).toEqual({ id, created: false })
  expect(await engine.find(id)).toEqual({ ...before, payload: { n: 2 } })
  expect(await claim(client)).toBeUndefined()
})

test('[E-05] replace: a job that runs has its payload already, so the second one is a job of its own', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [mail] })
  const first = await engine.enqueue(mail({ n: 1 }, { key: 'ann', dedupe: 'replace' }))
  await claim(client)
  const second = await engine.enqueue(mail({ n: 2 }, { key: 'ann', dedupe: 'replace' }))
  expect(second.created).toBe(true)
  expect(await engine.find(first.id)).toMatchObject({ state: 'running', payload: { n: 1 } })
  expect(await engine.enqueue(mail({ n: 3 }, { key: 'ann', dedupe: 'replace' }))).toEqual({ id: second.id, created: false })
  expect(await engine.find(second.id)).toMatchObject({ payload: { n: 3 } })
})

test('[E-05] debounce: each call puts the job off, and it runs once with the last payload', async ({ database }) => {
  const seen: unknown[] = []
  const index = defineKind('index', { dedupe: 'debounce', key: () => 'all', run: ({ payload }) => void seen.push(payload) })
  const kit = await createTestKit({ database: database.url, kinds: [index] })
  for (let n = 1; n <= 5; n++) {
    await kit.enqueue(index({ n }, { delay: '10m' }))
    await kit.advance('9m')
    expect(await kit.drain()).toEqual([])
  }
  await kit.advance('1m')
  expect(await kit.drain()).toHaveLength(1)
  expect(seen).toEqual([{ n: 5 }])
  await kit.close()
})

test('[E-05] debounce: a job is put off for at most debounceMax after it was made', async ({ database }) => {
  const index = defineKind('index', { dedupe: 'debounce', key: () => 'all', run: () => {} })
  const kit = await createTestKit({ database: database.url, kinds: [index] })
  const ran: number[] = []
  for (let minute = 0; minute <= 40; minute += 5) {
    await kit.enqueue(index({}, { delay: '10m', debounceMax: '20m' }))
    if ((await kit.drain()).length > 0) ran.push(minute)
    await kit.advance('5m')
  }
  // Made at 0 and due at 20, which comes before its enqueue at 20; made anew at 25 and due at 45.
  expect(ran).toEqual([20])
  await kit.close()
})

test('[E-05] bulk: duplicates among the rows are one job, and each row gets its id in order', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  const old = await engine.enqueue(mail({ n: 0 }, { key: 'b' }))
  const keys = ['a', 'b', 'a', 'c', 'b', 'a']
  const made = await engine.enqueueMany(keys.map((key, index) => mail({ n: index + 1 }, { key })))
  expect(made.map(({ created }) => created)).toEqual([true, false, false, true, false, false])
  expect(made[1]?.id).toBe(old.id)
  expect(made.map(({ id }) => id)).toEqual([0, 1, 0, 3, 1, 0].map((index) => made[index]?.id))
  expect(await engine.find(made[0]?.id ?? 0)).toMatchObject({ payload: { n: 1 } })
})

test('[E-05] bulk: of many rows with one key, keep keeps the first and replace the last', async ({ engines }) => {
  const engine = engines({ kinds: [mail, push] })
  const rows = Array.from({ length: 300 }, (_, n) => n)
  const kept = await engine.enqueueMany(rows.map((n) => mail({ n }, { key: 'a' })))
  expect(kept.filter(({ created }) => created)).toEqual([kept[0]])
  expect(await engine.find(kept[0]?.id ?? 0)).toMatchObject({ payload: { n: 0 } })
  const replaced = await engine.enqueueMany(rows.map((n) => push({ n }, { key: 'a', dedupe: 'replace' })))
  expect(new Set(replaced.map(({ id }) => id)).size).toBe(1)
  expect(await engine.find(replaced[0]?.id ?? 0)).toMatchObject({ payload: { n: 299 } })
})

test('[E-05] replace and debounce: beside a job of another mode that runs with the key, the last payload waits for its end', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [mail] })
  for (const mode of ['replace', 'debounce'] as const) {
    await engine.enqueue(mail({ n: 1 }, { key: mode }))
    const held = await claim(client)
    const second = await engine.enqueue(mail({ n: 2 }, { key: mode, dedupe: mode }))
    expect(second.created).toBe(true)
    expect(await engine.enqueue(mail({ n: 3 }, { key: mode, dedupe: mode }))).toEqual({ id: second.id, created: false })
    expect(await engine.why(second.id)).toMatchObject({ reason: 'waiting for another job' })
    await settle(client, held, 'done')
    await client.query('select sluice.release_missed()')
    expect(await engine.find(second.id)).toMatchObject({ state: 'ready', payload: { n: 3 } })
    await settle(client, await claim(client), 'done')
  }
})

test('[E-05] [E-12] replace: the lane goes with the payload', async ({ engines, client }) => {
  const call = defineKind('call', {
    payload: z.object({ to: z.string() }),
    dedupe: 'replace',
    key: () => 'one',
    lane: ({ payload }) => `api:${payload.to}`,
    cost: ({ to }) => to.length,
    run: () => {},
  })
  const engine = engines({ kinds: [call] })
  const { id } = await engine.enqueue(call({ to: 'a' }))
  await engine.enqueue(call({ to: 'bb' }))
  const { rows } = await client.query('select payload, lane, cost from sluice.job where id = $1', [id])
  expect(rows).toEqual([{ payload: { to: 'bb' }, lane: 'api:bb', cost: 2 }])
})

test('[E-05] [E-21] debounce: a job of a paused kind is put off like any other', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  await engine.pause({ scope: 'kind', name: 'mail' })
  const { id } = await engine.enqueue(mail({ n: 1 }, { key: 'ann', dedupe: 'debounce' }))
  expect(await engine.find(id)).toMatchObject({ state: 'paused' })
  await engine.enqueue(mail({ n: 2 }, { key: 'ann', dedupe: 'debounce', delay: '1h' }))
  expect(await engine.find(id)).toMatchObject({ state: 'scheduled', payload: { n: 2 }, runAt: expect.any(Date) })
  await client.query(`update sluice.job set run_at = sluice.now(); update sluice.leader set term = 1, until = 'infinity'`)
  await client.query('select sluice.promote(1, 10)')
  expect(await engine.find(id)).toMatchObject({ state: 'paused' })
})

test('[E-05] [E-11] debounce: whoever waits for the next due time hears of the one that was stored', async ({
  engines,
  database,
}) => {
  const engine = engines({ kinds: [mail] })
  const listener = new pg.Client(database.url)
  await listener.connect()
  const heard: number[] = []
  listener.on('notification', ({ payload = '' }) => void (payload.startsWith('due:') && heard.push(Number(payload.slice(4)))))
  await listener.query('listen sluice')
  const options = { key: 'ann', dedupe: 'debounce', debounceMax: '1m' } as const
  const { id } = await engine.enqueue(mail({}, { ...options, delay: '30s' }))
  const job = await engine.find(id)
  await engine.enqueueMany([mail({}, { ...options, delay: '1h' }), push({})].slice(0, 1))
  const { runAt } = (await engine.find(id)) as { runAt: Date }
  expect(runAt.getTime() - (job?.createdAt.getTime() ?? 0)).toBe(60_000)
  await eventually(() => heard.some((ms) => Math.abs(ms - runAt.getTime()) < 1_000))
  expect(heard.every((ms) => ms <= runAt.getTime() + 1_000)).toBe(true)
  await listener.end()
})
