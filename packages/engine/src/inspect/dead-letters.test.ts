/** Dead letters by what they have in common, and bulk actions on them and others. */
import type pg from 'pg'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'
import { fail } from '../job/outcome.ts'

const note = defineKind('note', { payload: z.looseObject({}), run: () => {} })
const mail = defineKind('mail', {
  payload: z.object({ text: z.string() }),
  run: ({ payload }) => fail(new Error(payload.text)),
})
const push = defineKind('push', { payload: z.object({ text: z.string() }), run: ({ payload }) => fail(new Error(payload.text)) })

const idle = (client: pg.Client) =>
  eventually(async () => (await client.query(`select from sluice.job where shelf is distinct from 'failed'`)).rowCount === 0)

describe('errors that are alike', () => {
  test.for([
    ['user 4711 is gone', 'user 12 is gone'],
    ['no repo "sluice/one"', 'no repo "x"'],
    [`can't open 'a'`, `can't open 'b b'`],
    ['took 12.5 ms', 'took 3 ms'],
    ['at 2026-01-02T10:11:12', 'at 2027-12-31T00:00:00'],
    ['commit 4af01bc89 is bad', 'commit 0123456789abcdef is bad'],
    ['read 0xff', 'read 0x7'],
    ['job 6f9619ff-8b86-d011-b42d-00cf4fc964ff', 'job 123e4567-e89b-12d3-a456-426614174000'],
    ['key 01HZX5T4QW8R9S7V6B3N2M1K0J', 'key 01JAB5T4QW8R9S7V6B3N2M1K0J'],
  ])('share a fingerprint: %s / %s', async ([one, other], { client }) => {
    const { rows } = await client.query(
      `select sluice.error_fingerprint('k', jsonb_build_object('message', $1::text, 'stack', 'a')) =
              sluice.error_fingerprint('k', jsonb_build_object('message', $2::text, 'stack', 'b')) as alike`,
      [one, other],
    )
    expect(rows).toEqual([{ alike: true }])
  })

  test.for([
    ['connect refused', 'connect timed out'],
    ['decade failed', 'facade failed'],
    ['', 'x'],
  ])('others do not: %s / %s', async ([one, other], { client }) => {
    const { rows } = await client.query(
      `select sluice.error_fingerprint('k', jsonb_build_object('message', $1::text)) = sluice.error_fingerprint('k', jsonb_build_object('message', $2::text)) as alike`,
      [one, other],
    )
    expect(rows).toEqual([{ alike: false }])
  })
})

test('[O-05] dead letters are grouped by kind and masked message, the newest group first', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail, push] })
  await engine.start()
  for (const request of [
    mail({ text: 'no user 1' }),
    push({ text: 'no user 3' }),
    mail({ text: 'no user 2' }),
    mail({ text: 'other' }),
  ]) {
    await engine.enqueue(request)
    await idle(client)
  }
  const { items, next, looked } = await engine.inspect.deadLetters()
  expect(items).toMatchObject([
    { kind: 'mail', message: 'other', count: 1 },
    { kind: 'mail', message: 'no user 2', count: 2 },
    { kind: 'push', message: 'no user 3', count: 1 },
  ])
  expect([next, looked]).toEqual([undefined, { rows: 4, until: undefined }])
  const group = items[1]!
  const jobs = await engine.inspect.jobs({ error: group.error })
  expect(jobs.items.map(({ payload }) => payload)).toEqual([{ text: 'no user 2' }, { text: 'no user 1' }])
  expect(group.newestJob).toBe(jobs.items[0]!.id)
  expect(group.lastAt).toEqual(jobs.items[0]!.startedAt)
  expect(group.firstAt).toEqual(jobs.items[1]!.startedAt)
  const first = await engine.inspect.deadLetters({ limit: 2 })
  expect(first.items).toEqual(items.slice(0, 2))
  expect((await engine.inspect.deadLetters({ limit: 2, cursor: first.next! })).items).toEqual(items.slice(2))
})

test('[O-05] a job that is tried again leaves its group, and one that dies anew finds it', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  await engine.start()
  const { id } = await engine.enqueue(mail({ text: 'no user 1' }))
  await idle(client)
  const [group] = (await engine.inspect.deadLetters()).items
  await engine.pause({ scope: 'kind', name: 'mail' })
  await engine.retry(id)
  expect((await engine.inspect.deadLetters()).items).toEqual([])
  await engine.resume({ scope: 'kind', name: 'mail' })
  await eventually(async () => (await engine.find(id))?.state === 'failed')
  expect((await engine.inspect.deadLetters()).items).toMatchObject([{ error: group!.error, count: 1 }])
})

test('[O-05] a job that kills its processes is in a group as well', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  const { id } = await engine.enqueue(mail({ text: 'no user 1' }))
  await client.query(`
    insert into sluice.worker (id, name, lease_until) values (7, 'dead', '-infinity');
    update sluice.job set worker = 7, crashes = 2;
    update sluice.leader set term = 1, worker = 8, until = 'infinity';
    select sluice.rescue(1, 3, true)`)
  const [group] = (await engine.inspect.deadLetters()).items
  expect(group).toMatchObject({ kind: 'mail', code: 'POISON', error: expect.any(String), newestJob: id, count: 1 })
})

test('[O-05] the count of a group is bounded and says so', async ({ engines, client }) => {
  const { inspect } = engines()
  await inspect.deadLetters()
  await client.query(
    `insert into sluice.job (kind, pool, shelf, rank, payload, max_attempts, created_at, error, fingerprint)
     select 'mail', 'light', 'failed', n, '{}', 5, '2026-01-01'::timestamptz + n * interval '1 s', error, sluice.error_fingerprint('mail', error)
     from generate_series(1, 10100) n, jsonb_build_object('message', 'no user ' || n) error`,
  )
  const { items, looked } = await inspect.deadLetters()
  expect(items).toMatchObject([{ count: 10_000, message: 'no user 10100' }])
  expect(looked).toEqual({ rows: 10_000, until: new Date(Date.UTC(2026, 0, 1) + 101_000) })
})

test('[O-03] bulk: a dry run counts and changes nothing, the same call then does it', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail, push, note] })
  await engine.start()
  await engine.enqueueMany([...[1, 2, 3].map((n) => mail({ text: `no user ${n}` })), push({ text: 'other' })])
  await idle(client)
  await engine.pause({ scope: 'kind', name: 'mail' })
  const [group] = (await engine.inspect.deadLetters()).items.filter(({ kind }) => kind === 'mail')
  const filter = { error: group!.error }
  expect(await engine.inspect.bulk('retry', filter, { dryRun: true })).toEqual({
    matched: 3,
    changed: 0,
    answers: {},
    more: false,
  })
  expect((await engine.inspect.jobs({ state: 'failed' })).items).toHaveLength(4)
  expect(await engine.inspect.bulk('retry', filter)).toEqual({ matched: 3, changed: 3, answers: { retried: 3 }, more: false })
  expect((await engine.inspect.jobs({ state: 'paused', kind: 'mail' })).items).toHaveLength(3)
  expect(await engine.inspect.bulk('discard', { kind: 'push' })).toMatchObject({ matched: 1, answers: { discarded: 1 } })
  // What was discarded has failed for good: no later action picks it.
  expect(await engine.inspect.bulk('discard', { kind: 'push' }, { dryRun: true })).toMatchObject({ matched: 0, more: false })
  expect(await engine.inspect.bulk('cancel', { kind: 'mail' }, { reason: 'enough' })).toMatchObject({
    changed: 3,
    answers: { canceled: 3 },
  })
  expect((await engine.inspect.jobs({ state: 'canceled' })).items[0]).toMatchObject({ error: { message: 'enough' } })
})

test('[O-03] bulk: `max` bounds it, and the answer says where to go on', async ({ engines, client }) => {
  const engine = engines({ kinds: [note] })
  await engine.migrate()
  await client.query(
    `insert into sluice.job (kind, pool, rank, payload, max_attempts, created_at)
     select 'note', 'light', n, '{}', 5, now() from generate_series(1, 1300) n`,
  )
  const first = await engine.inspect.bulk('cancel', { kind: 'note' }, { max: 1_200 })
  expect(first).toMatchObject({ matched: 1_200, changed: 1_200, answers: { canceled: 1_200 }, more: true })
  const rest = await engine.inspect.bulk('cancel', { kind: 'note' }, { max: 1_200, cursor: first.next })
  expect(rest).toEqual({ matched: 100, changed: 100, answers: { canceled: 100 }, more: false })
})

test('[O-03] bulk: jobs that run are asked to stop, dead letters are spared unless they are named', async ({
  engines,
  client,
}) => {
  const slow = defineKind('slow', {
    payload: z.looseObject({}),
    async run({ signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })
  const engine = engines({ kinds: [slow, mail] })
  await engine.start()
  await engine.enqueue(mail({ text: 'no' }, { owner: 'ann' }))
  await idle(client)
  await engine.enqueue(slow({}, { owner: 'ann' }))
  await eventually(() => engine.status().running === 1)
  expect(await engine.inspect.bulk('cancel', { owner: 'ann' })).toMatchObject({
    matched: 1,
    changed: 1,
    answers: { requested: 1 },
  })
  await idle(client)
  expect(await engine.inspect.bulk('cancel', { owner: 'ann', state: 'failed' })).toMatchObject({ answers: { canceled: 1 } })
})

test.for([
  ['filter', 'retry', {}, {}],
  ['state', 'retry', { state: 'ready' }, {}],
  ['state', 'cancel', { state: ['ready', 'succeeded'] }, {}],
  ['action', 'explode', { state: 'failed' }, {}],
  ['max', 'retry', { state: 'failed' }, { max: 0 }],
  ['cursor', 'retry', { state: 'failed' }, { cursor: 'x' }],
] as const)('[O-03] bulk: what cannot be is refused: %s', async ([field, action, filter, options], { engines }) => {
  await expect(engines().inspect.bulk(action as never, filter as never, options)).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    details: { field },
  })
})
