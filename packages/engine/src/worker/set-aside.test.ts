/** A lane in somebody's open transaction: what ends in it waits, and nothing else does. */
import pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'
import { done, type Outcome } from '../job/outcome.ts'
import { once } from '../job/retry.ts'

/** In each of two lanes: more than there are transactions for writes. */
const inLane = 12

const ways: [name: string, outcome: (n: number) => Outcome][] = [
  ['plain ends', () => done()],
  ['ends with a write of their own', (n) => done({ write: (tx) => tx.query('insert into noted (n) values ($1)', [n]) })],
  ['ends with children', () => done({ next: [{ kind: 'open', payload: {} }] })],
]

test.for(ways)(
  '[E-12] [E-09] %s wait for a lane that somebody holds, and keep no other job from its end',
  async ([_name, outcome], { engines, client, database }) => {
    let goOn = (): void => {}
    const asked = new Promise<void>((resolve) => void (goOn = resolve))
    const laned = defineKind('laned', {
      payload: z.object({ n: z.number() }),
      async run({ payload: { n } }) {
        await asked
        return outcome(n)
      },
    })
    const open = defineKind('open', { run: () => {} })
    const engine = engines({ kinds: [laned, open], pools: { light: { core: 30, max: 30 } } })
    await client.query('create table noted (n integer primary key)')
    await engine.start()
    // Two lanes end together, so that they share a group; one of them is held.
    for (const lane of ['held', 'free'])
      await engine.enqueueMany(Array.from({ length: inLane }, (_, n) => laned({ n: lane === 'held' ? n : 100 + n }, { lane })))
    const count = async (text: string): Promise<number> => (await client.query(text)).rows.length
    await eventually(async () => (await count(`select from sluice.job where worker is not null`)) === 2 * inLane)
    const person = new pg.Client(database.url)
    await person.connect()
    await person.query('begin')
    await engine.pause({ scope: 'lane', name: 'held' }, 'thinking', { client: person })
    goOn()
    await eventually(async () => (await count(`select from sluice.job where lane = 'free'`)) === 0)
    for (let n = 0; n < 20; n++) await engine.enqueue(open({ n }))
    await eventually(async () => (await count(`select from sluice.job where kind = 'open'`)) === 0)
    expect(await count(`select from sluice.job where lane = 'held' and worker is not null`)).toBe(inLane)
    await person.query('rollback')
    await person.end()
    await eventually(async () => (await count('select from sluice.job')) === 0)
    const { rows } = await client.query(
      `select state::text, count(*)::int from sluice.job_ledger where kind = 'laned' group by 1`,
    )
    expect(rows).toEqual([{ state: 'succeeded', count: 2 * inLane }])
    expect(await client.query(`select in_flight from sluice.lane where in_flight <> 0`)).toMatchObject({ rows: [] })
    const wrote = outcome(0) as { write?: unknown }
    expect(await count('select from noted')).toBe(wrote.write ? 2 * inLane : 0)
  },
)

test('[E-06] [E-12] a write that waits in vain for something of its own is retried like any other, lane or not', async ({
  engines,
  client,
  database,
}) => {
  await client.query('create table mine (n integer)')
  const stubborn = defineKind('stubborn', { run: () => done({ write: (tx) => tx.query('lock table mine nowait') }), retry: once })
  const engine = engines({ kinds: [stubborn] })
  const person = new pg.Client(database.url)
  await person.connect()
  await person.query('begin; lock table mine')
  await engine.start()
  const { id } = await engine.enqueue(stubborn({}, { lane: 'free' }))
  await eventually(async () => (await engine.find(id))?.state === 'failed')
  expect((await engine.find(id))?.error?.message).toMatch(/could not obtain lock/)
  await person.end()
})

test('[E-23] a process that stops waits for what is set aside, and leaves nothing behind', async ({
  engines,
  client,
  database,
}) => {
  let goOn = (): void => {}
  const asked = new Promise<void>((resolve) => void (goOn = resolve))
  const laned = defineKind('laned', { run: () => asked })
  const engine = engines({ kinds: [laned] })
  await engine.start()
  await engine.enqueue(laned({}, { lane: 'held' }))
  await eventually(async () => (await client.query(`select from sluice.job where worker is not null`)).rows.length === 1)
  const person = new pg.Client(database.url)
  await person.connect()
  await person.query('begin')
  await engine.pause({ scope: 'lane', name: 'held' }, 'thinking', { client: person })
  goOn()
  const stopping = engine.stop()
  await person.query(`select pg_sleep(1)`) // longer than a settle waits
  await person.query('commit')
  await person.end()
  await stopping
  const { rows } = await client.query(
    'select (select count(*)::int from sluice.job) as jobs, (select count(*)::int from sluice.job_ledger) as ended',
  )
  expect(rows).toEqual([{ jobs: 0, ended: 1 }])
})

test('[E-23] a process that stops while somebody keeps a lane leaves after its limit, and another runs what it gave up', async ({
  engines,
  client,
  database,
}) => {
  let goOn = (): void => {}
  const asked = new Promise<void>((resolve) => void (goOn = resolve))
  const ran: number[] = []
  const laned = defineKind('laned', {
    async run({ attempt }) {
      ran.push(attempt)
      await asked
    },
  })
  // A lease that would keep it for long.
  const engine = engines({ kinds: [laned], lease: '1m', grace: '100ms' })
  await engine.start()
  const { id } = await engine.enqueue(laned({}, { lane: 'held' }))
  await eventually(() => ran.length === 1)
  const person = new pg.Client(database.url)
  await person.connect()
  await person.query('begin')
  await engine.pause({ scope: 'lane', name: 'held' }, 'thinking', { client: person })
  goOn()
  await engine.stop()
  expect((await client.query('select sluice.state_of(shelf, worker) as state from sluice.job')).rows).toEqual([
    { state: 'running' },
  ])
  await person.query('rollback')
  await person.end()
  const heir = engines({ kinds: [laned] })
  await heir.start()
  await eventually(async () => (await heir.find(id))?.state === 'succeeded')
  expect(ran).toHaveLength(2)
})
