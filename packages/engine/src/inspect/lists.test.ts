/** Lists of runs, lanes, owners, kinds and workers. */
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineEvent } from '../event/event.ts'
import { defineKind } from '../job/kind.ts'
import { done, fail } from '../job/outcome.ts'
import { defineRun } from '../run/run-kind.ts'

const opened = defineEvent('door.opened', { payload: z.object({}) })
const page = defineKind('page', { payload: z.object({ n: z.number() }), run: () => {} })
const broken = defineKind('broken', { payload: z.looseObject({}), run: () => fail('no') })
const collect = defineRun('collect', { plan: () => done({ next: [page({ n: 1 }), page({ n: 2 })] }) })
const wreck = defineRun('wreck', { plan: () => fail('no plan') })

test('[O-03] runs are listed newest first, by kind, owner and state', async ({ engines }) => {
  const engine = engines({ kinds: [page], runs: [collect, wreck] })
  await engine.start()
  const ended = (id: number) => eventually(async () => !!(await engine.runs.find(id))?.finishedAt)
  const started = []
  for (const request of [collect({}, { owner: 'ann' }), collect({}, { owner: 'bob' }), wreck({}, { owner: 'ann' })]) {
    const { id } = await engine.runs.start(request)
    await ended(id)
    started.push(id)
  }
  const [a, b, c] = started
  const list = async (filter: Parameters<typeof engine.inspect.runs>[0]) =>
    (await engine.inspect.runs(filter)).items.map(({ id }) => id)
  expect(await list({})).toEqual([c, b, a])
  expect(await list({ kind: 'collect' })).toEqual([b, a])
  expect(await list({ owner: 'ann' })).toEqual([c, a])
  expect(await list({ state: 'failed' })).toEqual([c])
  expect(await list({ state: ['completed', 'running'], owner: 'ann' })).toEqual([a])
  expect(await list({ owner: 'ann', kind: 'wreck' })).toEqual([c])
  expect(await list({ owner: 'zoe' })).toEqual([])
  const first = await engine.inspect.runs({}, { limit: 2 })
  expect(first.items).toEqual([await engine.runs.find(c!), await engine.runs.find(b!)])
  expect((await engine.inspect.runs({}, { limit: 2, cursor: first.next! })).items.map(({ id }) => id)).toEqual([a])
})

test('[O-03] a run that plans is found as planning, not as created', async ({ engines, client }) => {
  const engine = engines({ runs: [collect] })
  const { id } = await engine.runs.start(collect({}))
  expect((await engine.inspect.runs({ state: 'planning' })).items).toEqual([])
  expect((await engine.inspect.runs({ state: 'created' })).items).toMatchObject([{ id, state: 'created' }])
  await client.query('update sluice.job set attempt = 1')
  expect((await engine.inspect.runs({ state: 'planning' })).items).toMatchObject([{ id, state: 'planning' }])
  expect((await engine.inspect.runs({ state: 'created' })).items).toEqual([])
})

test('[O-03] lanes are listed by name, by owner, and by whether they are closed', async ({ engines }) => {
  const { inspect, lanes, owners } = engines()
  for (const [name, owner] of [
    ['c', 'ann'],
    ['a', 'ann'],
    ['b', 'bob'],
    ['d', undefined],
  ] as const)
    await lanes.set(name, { cap: 3, ...(owner === undefined ? {} : { owner }) })
  await lanes.pause('a', 'for now')
  await owners.pause('bob')
  const list = async (...given: Parameters<typeof inspect.lanes>) => (await inspect.lanes(...given)).items.map(({ name }) => name)
  expect(await list()).toEqual(['a', 'b', 'c', 'd'])
  expect(await list({ owner: 'ann' })).toEqual(['a', 'c'])
  expect(await list({ closed: true })).toEqual(['a', 'b'])
  expect(await list({ closed: false })).toEqual(['c', 'd'])
  expect(await list({ owner: 'ann', closed: true })).toEqual(['a'])
  const first = await inspect.lanes({ owner: 'ann' }, { limit: 1 })
  expect(first.items).toEqual([await lanes.find('a')])
  expect(await list({ owner: 'ann' }, { limit: 1, cursor: first.next! })).toEqual(['c'])
  expect((await inspect.lanes({ owner: 'ann' }, { limit: 2 })).next).toBeUndefined()
})

test('[O-03] owners are listed once, with limits or with lanes', async ({ engines }) => {
  const { inspect, lanes, owners } = engines()
  await lanes.set('l1', { cap: 1, owner: 'ann' })
  await lanes.set('l2', { cap: 1, owner: 'ann' })
  await lanes.set('l3', { cap: 1, owner: 'zoe' })
  await owners.pause('bob', 'token is bad')
  await owners.set('ann', { cap: 7 })
  const { items } = await inspect.owners()
  expect(items).toEqual([
    { name: 'ann', cap: 7, holdUntil: null, paused: null, inFlight: 0, lanes: 2 },
    { name: 'bob', cap: null, holdUntil: null, paused: 'token is bad', inFlight: 0, lanes: 0 },
    { name: 'zoe', cap: null, holdUntil: null, paused: null, inFlight: 0, lanes: 1 },
  ])
  const first = await inspect.owners({ limit: 2 })
  expect(first.items).toEqual(items.slice(0, 2))
  expect(await inspect.owners({ limit: 2, cursor: first.next! })).toEqual({ items: items.slice(2), next: undefined })
})

test('[O-03] kinds say who can run them, what they hear and whether they are paused', async ({ engines }) => {
  const heard = defineKind('heard', { payload: z.object({}), on: [opened], pool: 'heavy', run: () => {} })
  const engine = engines({ kinds: [page, heard], pools: { light: { core: 1, max: 1 } } })
  await engine.start()
  await engine.pause({ scope: 'kind', name: 'page' }, 'holidays')
  expect(await engine.inspect.kinds()).toMatchObject([
    { name: 'heard', pool: 'heavy', on: ['door.opened'], workers: 0, paused: null },
    { name: 'page', pool: 'light', on: [], workers: 1, paused: { reason: 'holidays' } },
  ])
})

test('[O-03] workers are alive, stopping or lost, and one of them leads', async ({ engines, client }) => {
  const one = engines({ kinds: [broken] })
  expect(await one.inspect.leader()).toEqual({ term: 0, worker: undefined, name: undefined, until: undefined })
  await one.start()
  await engines({ kinds: [page], lead: false }).start()
  // The leader must not clear it away before we have looked.
  await client.query(`
    create function stay() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger stay before delete on sluice.worker for each row when (old.name = 'lost') execute function stay()`)
  await client.query(
    `insert into sluice.worker (id, name, lease_until, stopping) values (77, 'gone', now() + interval '1 h', true), (78, 'lost', '-infinity', true)`,
  )
  const workers = await one.inspect.workers()
  expect(workers.map(({ state, leads, kinds }) => ({ state, leads, kinds }))).toEqual([
    { state: 'alive', leads: true, kinds: ['broken'] },
    { state: 'alive', leads: false, kinds: ['page'] },
    { state: 'stopping', leads: false, kinds: [] },
    { state: 'lost', leads: false, kinds: [] },
  ])
  expect(await one.inspect.leader()).toMatchObject({ worker: one.status().worker, name: workers[0]!.name })
  await client.query(`update sluice.leader set until = now()`)
})
