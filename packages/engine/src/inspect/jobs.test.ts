/** Lists of jobs: what is in them, in which order, and where a page ends. */
import type pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'
import { fail } from '../job/outcome.ts'
import type { Listed, Page } from './page.ts'

const note = defineKind('note', { payload: z.looseObject({}), run: () => {} })
const bad = defineKind('bad', { payload: z.looseObject({}), run: () => fail('no good') })

const ids = ({ items }: Listed<{ id: number }>): number[] => items.map(({ id }) => id)

/** All pages, one after the other. */
async function walk<T>(list: (page: Page) => Promise<Listed<T>>, limit: number): Promise<{ items: T[]; pages: number }> {
  const items: T[] = []
  let [cursor, pages]: [string | undefined, number] = [undefined, 0]
  do {
    const page: Listed<T> = await list({ limit, ...(cursor === undefined ? {} : { cursor }) })
    items.push(...page.items)
    cursor = page.next
    pages++
  } while (cursor !== undefined)
  return { items, pages }
}

/** Jobs as they lie in the tables, without an engine that would run them. */
async function store(client: pg.Client, table: 'job' | 'job_ledger', rows: string): Promise<void> {
  const columns = {
    job: 'id, kind, pool, lane, owner, payload, parent, root, run, rank, max_attempts, created_at, run_at, worker, error, shelf',
    job_ledger:
      'id, kind, pool, lane, owner, state, payload, parent, root, run, priority, attempt, created_at, fence, finished_at, worker, error',
  }[table]
  await client.query(`insert into sluice.${table} (${columns}) ${rows}`)
}

const live = (from: number, to: number, { state = 'ready', kind = 'note', owner = 'null', payload = `'{}'` } = {}): string =>
  `select n, '${kind}', 'light', '', ${owner}, ${payload}, null, null, null, n, 5, now(), ${state === 'scheduled' ? 'now()' : 'null'}, null, null, ${state === 'ready' ? 'null' : `'${state}'`}
   from generate_series(${from}, ${to}) n`

const ended = (from: number, to: number, { state = 'succeeded', kind = 'note' } = {}): string =>
  `select n, '${kind}', 'light', '', null, '${state}', '{}', null, null, null, 0, 1, now(), 7, now(), 1, null from generate_series(${from}, ${to}) n`

test('[O-03] live and finished jobs are one list, newest first, each once', async ({ engines, client }) => {
  const engine = engines({ kinds: [note, bad] })
  await engine.start()
  await engine.enqueueMany([note({ n: 1 }), bad({ n: 2 }), note({ n: 3 })])
  await eventually(
    async () => (await client.query(`select from sluice.job where shelf is distinct from 'failed'`)).rowCount === 0,
  )
  const late = await engine.enqueue(note({ n: 4 }, { delay: '1h' }))
  const { items, next } = await engine.inspect.jobs()
  expect(items.map(({ kind, state }) => [kind, state])).toEqual([
    ['note', 'scheduled'],
    ['note', 'succeeded'],
    ['bad', 'failed'],
    ['note', 'succeeded'],
  ])
  expect(next).toBeUndefined()
  expect(items[0]).toEqual(await engine.find(late.id))
  expect(items[2]).toEqual(await engine.find(items[2]!.id))
})

test('[O-03] pages go on where the last one ended, while newer jobs come in', async ({ engines, client }) => {
  const { inspect } = engines()
  await inspect.jobs()
  await store(client, 'job_ledger', ended(1, 7))
  await store(client, 'job', live(8, 12))
  const first = await inspect.jobs({}, { limit: 4 })
  await store(client, 'job', live(13, 20))
  const second = await inspect.jobs({}, { limit: 4, cursor: first.next! })
  const third = await inspect.jobs({}, { limit: 4, cursor: second.next! })
  expect([first, second, third].map(ids)).toEqual([
    [12, 11, 10, 9],
    [8, 7, 6, 5],
    [4, 3, 2, 1],
  ])
  expect(third.next).toBeUndefined()
})

test('[O-03] each filter picks its jobs, alone and together with others', async ({ engines, client }) => {
  const { inspect } = engines()
  await inspect.jobs()
  await store(client, 'job', live(1, 2))
  await store(client, 'job', live(3, 3, { state: 'failed', kind: 'bad' }))
  await store(client, 'job', live(4, 4, { state: 'scheduled', owner: `'ann'` }))
  await store(client, 'job', live(5, 5, { state: 'paused' }))
  await store(client, 'job_ledger', ended(6, 7))
  await store(client, 'job_ledger', ended(8, 8, { state: 'canceled', kind: 'bad' }))
  await store(client, 'job_ledger', ended(9, 9, { state: 'failed' }))
  const list = async (filter: Parameters<typeof inspect.jobs>[0]) => ids(await inspect.jobs(filter))
  expect(await list({ state: 'ready' })).toEqual([2, 1])
  expect(await list({ state: 'failed' })).toEqual([9, 3])
  expect(await list({ state: 'canceled' })).toEqual([8])
  expect(await list({ state: 'succeeded' })).toEqual([7, 6])
  expect(await list({ state: ['canceled', 'succeeded'] })).toEqual([8, 7, 6])
  expect(await list({ state: ['scheduled', 'paused', 'scheduled'] })).toEqual([5, 4])
  expect(await list({ state: ['failed', 'canceled', 'ready'] })).toEqual([9, 8, 3, 2, 1])
  expect(await list({ kind: 'bad' })).toEqual([8, 3])
  expect(await list({ kind: 'bad', state: 'failed' })).toEqual([3])
  expect(await list({ owner: 'ann' })).toEqual([4])
  expect(await list({ pool: 'heavy' })).toEqual([])
  expect(await list({ lane: '' })).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1])
})

test('[O-03] a filter that fits rarely answers short pages and says how far it looked', async ({ engines, client }) => {
  const { inspect } = engines()
  await inspect.jobs()
  await store(client, 'job', live(1, 12_000))
  await client.query(`update sluice.job set owner = 'ann', created_at = '2026-01-01' where id = 3`)
  await client.query(`update sluice.job set created_at = '2026-01-02' where id = 7001`)
  const first = await inspect.jobs({ owner: 'ann' })
  expect(first).toMatchObject({ items: [], looked: { rows: 5_000, until: new Date('2026-01-02') } })
  const { items, pages } = await walk((page) => inspect.jobs({ owner: 'ann' }, page), 50)
  expect([items.map(({ id }) => id), pages]).toEqual([[3], 3])
  expect(await inspect.jobs({ owner: 'ann', state: 'failed' })).toMatchObject({
    items: [],
    looked: { rows: 0, until: undefined },
  })
})

test('[O-03] what runs is found among any number that are ready, in the open lane and in others', async ({ engines, client }) => {
  const { inspect } = engines()
  await inspect.jobs()
  await store(client, 'job', live(1, 20_000))
  await client.query(
    `update sluice.job set worker = 1, lane = case when id > 2 then 'l' || id else '' end where id <= 4 or id in (1999, 2000)`,
  )
  const { items, next, looked } = await inspect.jobs({ state: 'running' })
  expect([items.map(({ id }) => id), next]).toEqual([[2000, 1999, 4, 3, 2, 1], undefined])
  expect(looked).toEqual({ rows: 2_004, until: undefined })
  const { items: walked } = await walk((page) => inspect.jobs({ state: 'running' }, page), 4)
  expect(walked.map(({ id }) => id)).toEqual([2000, 1999, 4, 3, 2, 1])
})

test('[O-03] a search by payload looks through the newest and finds what contains it', async ({ engines, client }) => {
  const { inspect } = engines()
  await inspect.jobs()
  await store(
    client,
    'job',
    live(1, 6_000, { payload: `jsonb_build_object('repo', jsonb_build_object('id', n % 100), 'tags', '["a", "b"]'::jsonb)` }),
  )
  const found = await inspect.search({ payload: { repo: { id: 42 } } }, { limit: 2 })
  expect(ids(found)).toEqual([5942, 5842])
  expect(found.looked).toMatchObject({ rows: 159 })
  const none = await inspect.search({ payload: { repo: { id: 'x' } } })
  expect(none).toMatchObject({ items: [], looked: { rows: 5_000 } })
  expect(none.next).toBeDefined()
  expect((await inspect.search({ payload: { tags: ['b'] }, kind: 'note' }, { limit: 3 })).items).toHaveLength(3)
  expect((await inspect.search({ payload: { tags: ['b'] }, kind: 'other' }, { limit: 3 })).items).toEqual([])
})

test('[O-03] a page of big payloads is cut before it gets too big, and goes on', async ({ engines, client }) => {
  const { inspect } = engines()
  await inspect.jobs()
  await store(client, 'job', live(1, 100, { payload: `jsonb_build_object('text', repeat(md5(n::text), 6000))` }))
  const first = await inspect.jobs({}, { limit: 500 })
  expect(first.items.length).toBeGreaterThan(1)
  expect(JSON.stringify(first.items).length).toBeLessThan(10_000_000)
  const { items } = await walk((page) => inspect.jobs({}, page), 500)
  expect(items).toHaveLength(100)
})

test('[O-03] a tree and a run give all of their jobs, live and finished, and nobody else', async ({ engines, client }) => {
  const { inspect } = engines()
  await inspect.jobs()
  await client.query(
    `insert into sluice.run (id, kind, state, trigger, payload, root_job, root_children, finalizer_job, finalizer_children)
     values (7, 'r', 'running', 't', '{}', 1, '[2,5]', 20, '[21,21]')`,
  )
  const columns = 'id, kind, pool, lane, owner, state, payload, parent, root, run'
  const finished = (id: number, root: string, run: string) =>
    `(${id}, 'note', 'light', '', null, 'succeeded', '{}', ${root}, ${root}, ${run}, 0, 1, now(), 7, now() + ${id % 3} * interval '1 day')`
  await client.query(
    `insert into sluice.job_ledger (${columns}, priority, attempt, created_at, fence, finished_at)
     values ${finished(1, 'null', '7')}, ${finished(2, '1', '7')}, ${finished(3, '1', '7')}, ${finished(4, '2', 'null')}, ${finished(20, 'null', '7')}`,
  )
  await client.query(
    `insert into sluice.job (${columns.replace(' state,', '')}, rank, max_attempts, created_at)
     values (5, 'note', 'light', '', null, '{}', 1, 1, 7, 5, 5, now()), (6, 'note', 'light', '', null, '{}', 1, 1, null, 6, 5, now()),
            (21, 'note', 'light', '', null, '{}', 20, 20, 7, 6, 5, now())`,
  )
  expect(ids(await inspect.jobs({ tree: 1 }))).toEqual([6, 5, 3, 2, 1])
  expect(ids(await inspect.jobs({ run: 7 }))).toEqual([21, 20, 5, 3, 2, 1])
  expect(ids(await inspect.jobs({ run: 7, state: 'ready' }))).toEqual([21, 5])
  const { items, pages } = await walk((page) => inspect.jobs({ run: 7 }, page), 2)
  expect([items.map(({ id }) => id), pages]).toEqual([[21, 20, 5, 3, 2, 1], 3])
  expect(ids(await inspect.jobs({ run: 8 }))).toEqual([])
  expect(ids(await inspect.jobs({ tree: 99 }))).toEqual([])
})

test.for([
  ['limit', { limit: 0 }],
  ['limit', { limit: 501 }],
  ['cursor', { cursor: 'x' }],
  ['cursor', { cursor: Buffer.from('["runs",3]').toString('base64url') }],
  ['cursor', { cursor: Buffer.from('["jobs",-3]').toString('base64url') }],
] as const)('[O-03] a page that cannot be is refused: %s', async ([field, page], { engines }) => {
  await expect(engines().inspect.jobs({}, page)).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { field } })
})

test.for([
  ['state', { state: 'gone' }],
  ['state', { state: [] }],
  ['kind', { kind: 'a\0b' }],
  ['run', { run: 0.5 }],
  ['tree', { tree: '7' }],
  ['error', { error: 'x' }],
  ['error', { error: '0123456789abcdef', state: 'ready' }],
  ['colour', { colour: 'red' }],
] as const)('[O-03] a filter that cannot be is refused by its field: %s', async ([field, filter], { engines }) => {
  await expect(engines().inspect.jobs(filter as never)).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { field } })
})
