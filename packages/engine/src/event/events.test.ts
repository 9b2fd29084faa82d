/** Events on a database: who gets them, what is refused, and what is committed with what. */
import type pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import type { JobContext } from '../job/context.ts'
import { type AnyKind, defineKind } from '../job/kind.ts'
import { done } from '../job/outcome.ts'
import { delays, once } from '../job/retry.ts'
import { defineEvent } from './event.ts'

const closed = defineEvent('study.closed', { payload: z.object({ id: z.number() }) })
const opened = defineEvent('study.opened', { payload: z.object({ id: z.number() }) })

/** A subscriber that remembers what it got. */
function listener(name: string, on = [closed], run: (context: JobContext<{ id: number }>) => void = () => {}) {
  const heard: { event: number | undefined; payload: { id: number }; owner: string | undefined }[] = []
  const kind = defineKind(name, {
    payload: z.object({ id: z.number() }),
    on,
    retry: delays(['1ms', '1ms']),
    run(context) {
      heard.push({ event: context.event, payload: context.payload, owner: context.owner })
      run(context)
    },
  })
  return { heard, kind }
}

const idle = (client: pg.Client) =>
  eventually(async () => (await client.query(`select from sluice.job where shelf is distinct from 'failed'`)).rowCount === 0)

const subscriptions = async (client: pg.Client): Promise<string[]> => {
  const { rows } = await client.query(`select event || ' > ' || kind as line from sluice.subscription order by 1`)
  return rows.map(({ line }) => line)
}

test('[E-17] every subscriber gets an event once, with its payload, owner and id', async ({ engines, client }) => {
  const [mail, index, deaf] = [listener('mail'), listener('index', [closed, opened]), listener('deaf', [])]
  const engine = engines({ kinds: [mail.kind, index.kind, deaf.kind] })
  await engine.start()
  const first = await engine.publish(closed({ id: 1 }, { owner: 'ann' }))
  const second = await engine.publish(opened({ id: 2 }))
  await idle(client)
  const one = { event: first.id, payload: { id: 1 }, owner: 'ann' }
  expect(mail.heard).toEqual([one])
  expect(index.heard).toHaveLength(2)
  expect(index.heard).toEqual(expect.arrayContaining([one, { event: second.id, payload: { id: 2 }, owner: undefined }]))
  expect(deaf.heard).toEqual([])
})

test('[E-17] subscribers are retried each by itself', async ({ engines, client }) => {
  const calm = listener('calm')
  const shaky = listener('shaky', [closed], ({ attempt }) => {
    if (attempt < 3) throw new Error('not yet')
  })
  const dead = listener('dead', [closed], () => {
    throw new Error('never')
  })
  const engine = engines({ kinds: [calm.kind, shaky.kind, dead.kind] })
  await engine.start()
  const { id } = await engine.publish(closed({ id: 1 }))
  await idle(client)
  expect([calm, shaky, dead].map(({ heard }) => heard.length)).toEqual([1, 3, 3])
  const failed = await engine.failed()
  expect(failed).toMatchObject([{ kind: 'dead', error: { message: 'never' } }])
  const { rows } = await client.query('select event::int from sluice.job_ledger union all select event::int from sluice.job')
  expect(rows).toEqual([{ event: id }, { event: id }, { event: id }])
})

test('[E-17] published in a transaction of the caller: rolled back it never happened', async ({ engines, client }) => {
  const { heard, kind } = listener('mail')
  const engine = engines({ kinds: [kind] })
  await engine.start()
  await client.query('begin')
  const gone = await engine.publish(closed({ id: 1 }), { client })
  await client.query('rollback')
  await client.query('begin')
  const kept = await engine.publish(closed({ id: 2 }), { client })
  // Another session sees neither the event nor a job before the commit.
  expect(await engine.events.list()).toEqual([])
  await client.query('commit')
  await idle(client)
  expect(await engine.events.find(gone.id)).toBeUndefined()
  expect(await engine.events.find(kept.id)).toMatchObject({ type: 'study.closed', payload: { id: 2 }, depth: 0, job: null })
  expect(heard).toEqual([{ event: kept.id, payload: { id: 2 }, owner: undefined }])
})

test('[E-17] whoever publishes needs no code of the subscribers, and plain SQL is enough', async ({ engines, client }) => {
  const { heard, kind } = listener('mail')
  const subscriber = engines({ kinds: [kind] })
  await subscriber.start()
  const publisher = engines({ events: [closed] })
  await publisher.publish(closed({ id: 1 }))
  await publisher.publish({ event: 'study.closed', payload: { id: 2 } })
  const { rows } = await client.query(`select sluice.publish('study.closed', '{"id": 3}', owner => 'ann')::int as id`)
  await idle(client)
  expect(heard.map(({ payload }) => payload.id).toSorted((a, b) => a - b)).toEqual([1, 2, 3])
  expect(heard).toContainEqual({ event: rows[0].id, payload: { id: 3 }, owner: 'ann' })
  expect(await publisher.events.list({ type: 'study.closed', limit: 2 })).toMatchObject([
    { payload: { id: 3 }, owner: 'ann' },
    { payload: { id: 2 } },
  ])
  expect(await publisher.events.list({ owner: 'ann', before: rows[0].id })).toEqual([])
})

test('[E-17] an unknown event is refused, and the message says what to do', async ({ engines, client }) => {
  const engine = engines()
  await expect(engine.publish(closed({ id: 1 }))).rejects.toMatchObject({
    code: 'UNKNOWN_EVENT',
    message: expect.stringMatching(/"study\.closed".*`events`.*correct the name/),
  })
  await expect(engine.publish({ event: 'a\0b', payload: {} })).rejects.toMatchObject({ code: 'UNKNOWN_EVENT' })
  await expect(client.query(`select sluice.publish('study.closd')`)).rejects.toMatchObject({
    code: 'SL005',
    message: 'unknown event "study.closd"',
    hint: expect.stringContaining('correct the name'),
  })
})

test('[E-17] an invalid or too large payload is refused before anything is stored', async ({ engines, client }) => {
  const engine = engines({ events: [closed], payloadBytesMax: 1_000 })
  await expect(engine.publish(closed({ id: 'x' as never }))).rejects.toMatchObject({
    code: 'INVALID_PAYLOAD',
    message: expect.stringContaining('"study.closed" does not fit its schema: id: '),
  })
  const large = JSON.stringify({ id: 1, note: 'x'.repeat(1_000) })
  await expect(client.query(`select sluice.publish('study.closed', $1)`, [large])).rejects.toMatchObject({ code: 'SL003' })
  await expect(
    client.query('select sluice.publish_many($1)', [
      JSON.stringify([{ type: 'study.closed', payload: { note: 'x'.repeat(7_000) } }]),
    ]),
  ).rejects.toMatchObject({ code: 'SL003' })
  expect(await engine.events.list()).toEqual([])
})

test('[E-17] a payload that a subscriber does not take fails that job alone', async ({ engines, client }) => {
  const strict = defineKind('strict', { payload: z.object({ name: z.string() }), on: [closed], run: () => {} })
  const { heard, kind } = listener('mail')
  const engine = engines({ kinds: [strict, kind] })
  await engine.start()
  await engine.publish(closed({ id: 1 }))
  await idle(client)
  expect(heard).toHaveLength(1)
  expect(await engine.failed()).toMatchObject([{ kind: 'strict', attempt: 1, error: { code: 'INVALID_PAYLOAD' } }])
})

test('[E-17] subscriptions follow the kinds that are registered, and leave others alone', async ({ engines, client }) => {
  await engines({ kinds: [listener('mail', [closed, opened, closed]).kind, listener('index').kind] }).migrate()
  expect(await subscriptions(client)).toEqual(['study.closed > index', 'study.closed > mail', 'study.opened > mail'])
  await engines({ kinds: [listener('mail', [opened]).kind] }).migrate()
  await engines({ kinds: [listener('other', []).kind], events: [closed] }).migrate()
  expect(await subscriptions(client)).toEqual(['study.closed > index', 'study.opened > mail'])
  await engines({ kinds: [listener('mail', []).kind] }).migrate()
  expect(await subscriptions(client)).toEqual(['study.closed > index'])
})

test('[E-17] jobs of a paused subscriber wait for it, and rules of its kind hold', async ({ engines, client }) => {
  const urgent = defineKind('urgent', { on: [closed], pool: 'heavy', priority: 7, retry: once, dedupe: 'keep', run: () => {} })
  const engine = engines({ kinds: [urgent] })
  await engine.pause({ scope: 'kind', name: 'urgent' })
  const first = await engine.publish(closed({ id: 1 }))
  await engine.publish(closed({ id: 1 }))
  await engine.publish(closed({ id: 2 }))
  const { rows } = await client.query(
    'select sluice.state_of(shelf, worker) as state, pool, priority, max_attempts, event::int, parent, root, run from sluice.job order by id',
  )
  const alike = { state: 'paused', pool: 'heavy', priority: 7, max_attempts: 1, parent: null, root: null, run: null }
  expect(rows).toEqual([
    { ...alike, event: first.id },
    { ...alike, event: first.id + 2 },
  ])
})

test('[E-17] a cycle of subscriptions is bounded, and its end is visible', async ({ engines, client }) => {
  const echo: AnyKind = defineKind('echo', { on: [closed], run: ({ payload }) => done({ publish: [opened(payload as never)] }) })
  const answer: AnyKind = defineKind('answer', {
    on: [opened],
    run: ({ payload }) => done({ next: [relay(payload as never)] }),
  })
  // A child inherits the event, so a detour does not hide a cycle.
  const relay: AnyKind = defineKind('relay', { run: ({ payload }) => done({ publish: [closed(payload as never)] }) })
  const engine = engines({ kinds: [echo, answer, relay] })
  await engine.start()
  const { id } = await engine.publish(closed({ id: 1 }))
  await idle(client)
  const events = await engine.events.list()
  expect(events.map(({ depth }) => depth)).toEqual(Array.from({ length: 17 }, (_, n) => 16 - n))
  expect(events.at(-1)).toMatchObject({ id, cause: null })
  expect(events.slice(0, -1).map(({ cause }) => cause)).toEqual(events.slice(1).map((event) => event.id))
  expect(await engine.failed()).toMatchObject([
    {
      kind: 'echo',
      attempt: 1,
      event: events[0]?.id,
      error: { code: 'EVENT_CYCLE', message: expect.stringContaining('17 events') },
    },
  ])
  const { rows } = await client.query(`select count(*)::int as n from sluice.job_ledger where kind = 'echo'`)
  expect(rows).toEqual([{ n: 8 }])
  await expect(client.query(`select sluice.publish('study.closed', cause => $1)`, [events[0]?.id])).rejects.toMatchObject({
    code: 'SL006',
  })
})

test('[E-17] what is no event is not published, and the error says what to do', async ({ engines }) => {
  const engine = engines()
  for (const given of [() => {}, { payload: {} }, { kind: 'mail', payload: {} }, undefined])
    await expect(engine.publish(given as never)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(/is nothing to publish; call an event/),
    })
})
