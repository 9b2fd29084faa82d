/**
 * Cause and consequence commit together: what a handler writes, the jobs it starts and its own end are all there or none of them is. The
 * same holds for a caller's transaction and the jobs enqueued in it.
 */
import { defineKind, delays, done, type Engine, type Outcome, once, type TransactionClient } from '@sluice/engine'
import pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../support/database.ts'

const child = defineKind('child', { payload: z.object({ n: z.int() }), run: () => {} })
const retry = delays(['1ms'])
const effectTable = 'create table effect (name text primary key, amount integer check (amount > 0))'
const insert = (tx: TransactionClient, name: string, amount = 1) =>
  tx.query('insert into effect (name, amount) values ($1, $2)', [name, amount])

const failures: [what: string, end: () => Outcome, error: RegExp][] = [
  [
    'a write that throws after it wrote',
    () =>
      done({
        write: async (tx) => {
          await insert(tx, 'mine')
          throw new Error('second thoughts')
        },
        next: [child({ n: 1 })],
      }),
    /second thoughts/,
  ],
  [
    'a write that breaks a constraint',
    () =>
      done({
        write: async (tx) => {
          await insert(tx, 'mine')
          await insert(tx, 'mine as well', -1)
        },
        next: [child({ n: 1 })],
      }),
    /violates check constraint/,
  ],
  [
    'a write that swallows the error of its own statement',
    () =>
      done({
        write: async (tx) => {
          await insert(tx, 'mine')
          await insert(tx, 'mine as well', -1).catch(() => {})
        },
        next: [child({ n: 1 })],
      }),
    /violates check constraint/,
  ],
  [
    'a child of a kind that nobody knows',
    () => done({ write: (tx) => insert(tx, 'mine'), next: [child({ n: 1 }), { kind: 'nobody.knows', payload: {} }] }),
    /No kind is registered as "nobody.knows"/,
  ],
  [
    'a child whose payload does not fit',
    () => done({ write: (tx) => insert(tx, 'mine'), next: [child({ n: 1 }), child({ n: 0.5 })] }),
    /does not fit its schema/,
  ],
  [
    'a child that does not fit, without a write',
    () => done({ next: [child({ n: 1 }), { kind: 'nobody.knows', payload: {} }] }),
    /No kind is registered as "nobody.knows"/,
  ],
]

test.for(failures)(
  '[E-09] %s leaves nothing behind and counts as a failed attempt',
  async ([, end, error], { client, engines }) => {
    await client.query(effectTable)
    const parent = defineKind('parent', { retry, run: end })
    const engine = engines({ kinds: [parent, child] })
    const { id } = await engine.enqueue(parent({}))
    await engine.start()
    await ends(engine, id, 'failed')

    const attempts = await engine.attempts(id)
    expect(attempts).toMatchObject([
      { attempt: 1, outcome: 'retry', error: { message: expect.stringMatching(error) } },
      { attempt: 2, outcome: 'failed', error: { message: expect.stringMatching(error) } },
    ])
    expect(await remains(client)).toEqual({ effects: [], jobs: ['parent'], ledger: [] })
  },
)

test('[E-09] a write whose own trouble looks like a lost connection is not tried for ever', async ({ client, engines }) => {
  await client.query(effectTable)
  const parent = defineKind('parent', {
    retry: once,
    run: () =>
      done({
        write: async (tx) => {
          await insert(tx, 'mine')
          throw Object.assign(new Error('the other server refused'), { code: 'ECONNREFUSED' })
        },
      }),
  })
  const engine = engines({ kinds: [parent, child] })
  const { id } = await engine.enqueue(parent({}))
  await engine.start()
  await eventually(async () => (await engine.find(id))?.state === 'failed', 30_000)
  expect(await engine.find(id)).toMatchObject({ error: { message: 'the other server refused', code: 'ECONNREFUSED' } })
  expect(await remains(client)).toEqual({ effects: [], jobs: ['parent'], ledger: [] })
})

test('[E-09] what a handler writes, the jobs it starts and its end are all there', async ({ client, engines }) => {
  await client.query(effectTable)
  const parent = defineKind('parent', {
    run: () => done({ write: (tx) => insert(tx, 'mine'), next: [child({ n: 1 }), child({ n: 2 }, { delay: '1h' })] }),
  })
  const engine = engines({ kinds: [parent, child] })
  const { id } = await engine.enqueue(parent({}))
  await engine.start()
  await eventually(async () => (await remains(client)).ledger.length === 2)

  expect(await remains(client)).toEqual({ effects: ['mine'], jobs: ['child'], ledger: ['child', 'parent'] })
  const { rows } = await client.query('select parent::int, root::int, payload from sluice.job')
  expect(rows).toEqual([{ parent: id, root: id, payload: { n: 2 } }])
})

test('[E-09] while the write is under way, nobody sees a part of it', async ({ database, client, engines }) => {
  await client.query(effectTable)
  const parent = defineKind('parent', { run: () => done({ write: (tx) => insert(tx, 'mine'), next: [child({ n: 1 })] }) })
  const seen: unknown[] = []
  const engine = engines({
    kinds: [parent, child],
    pools: { light: { core: 1, max: 1 } },
    probe: async (point) => {
      if (point !== 'before commit') return
      const onlooker = new pg.Client(database.url)
      await onlooker.connect()
      seen.push(await remains(onlooker))
      await onlooker.end()
    },
  })
  await engine.enqueue(parent({}))
  await engine.start()
  await eventually(async () => (await remains(client)).ledger.length === 2)
  expect(seen).toEqual([{ effects: [], jobs: ['parent'], ledger: [] }])
})

test('[E-09] one bad job of a group does not take its neighbours along', async ({ client, engines }) => {
  await client.query(effectTable)
  const together = 30
  let entered = 0
  let letGo: () => void = () => {}
  const all = new Promise<void>((resolve) => {
    letGo = resolve
  })
  // All end in the same moment, so that they are settled as a group.
  const member = defineKind('member', {
    payload: z.object({ bad: z.boolean() }),
    retry,
    async run({ payload: { bad }, attempt }) {
      entered += attempt === 1 ? 1 : 0
      if (entered === together) letGo()
      await all
      return done({ next: [bad ? { kind: 'nobody.knows', payload: {} } : child({ n: 1 })] })
    },
  })
  const engine = engines({ kinds: [member, child], pools: { light: { core: together, max: together } } })
  const jobs = await engine.enqueueMany(Array.from({ length: together }, (_, n) => member({ bad: n % 10 === 5 })))
  await engine.start()
  await Promise.all(jobs.map(({ id }, n) => ends(engine, id, n % 10 === 5 ? 'failed' : 'succeeded')))
  await eventually(async () => (await remains(client)).ledger.filter((kind) => kind === 'child').length === 27)

  const { ledger, jobs: left } = await remains(client)
  expect({ succeeded: ledger.filter((kind) => kind === 'member').length, left }).toEqual({
    succeeded: 27,
    left: ['member', 'member', 'member'],
  })
  expect(Math.max(...(await Promise.all(jobs.map(({ id }) => engine.find(id)))).map((job) => job?.attempt ?? 0))).toBe(2)
})

test('[E-02] a rolled-back enqueue leaves nothing, a committed one is there', async ({ client, engines }) => {
  await client.query(effectTable)
  const engine = engines({ kinds: [child] })
  const both = async (name: string, end: 'commit' | 'rollback'): Promise<void> => {
    await client.query('begin')
    await insert(client, name)
    await engine.enqueue(child({ n: 1 }), { client })
    await engine.enqueueMany([child({ n: 2 }), child({ n: 3 })], { client })
    await client.query(end)
  }
  await both('given up', 'rollback')
  expect(await remains(client)).toEqual({ effects: [], jobs: [], ledger: [] })
  await both('kept', 'commit')
  expect(await remains(client)).toEqual({ effects: ['kept'], jobs: ['child', 'child', 'child'], ledger: [] })
})

test('[E-02] nobody runs a job before the transaction that enqueued it commits', async ({ client, engines }) => {
  const engine = engines({ kinds: [child] })
  await engine.start()
  await client.query('begin')
  const inside = await engine.enqueue(child({ n: 1 }), { client })
  const outside = await engine.enqueue(child({ n: 2 }))
  await ends(engine, outside.id, 'succeeded')
  expect(await engine.find(inside.id)).toBeUndefined()
  await client.query('commit')
  await ends(engine, inside.id, 'succeeded')
})

test('[E-02] plain SQL enqueues in its own transaction, and is refused what the engine refuses', async ({ client, engines }) => {
  const engine = engines({ kinds: [child] })
  await engine.start()
  await client.query(`begin; select sluice.enqueue('child', '{"n": 1}'); rollback`)
  expect(await remains(client)).toEqual({ effects: [], jobs: [], ledger: [] })

  await client.query(`begin; select sluice.enqueue('child', '{"n": 2}', priority => 5); commit`)
  await eventually(async () => (await remains(client)).ledger.length === 1)
  await expect(client.query(`select sluice.enqueue('nobody.knows')`)).rejects.toMatchObject({ code: 'SL001' })
})

async function ends(engine: Engine, id: number, state: string): Promise<void> {
  await eventually(async () => (await engine.find(id))?.state === state)
}

async function remains(client: pg.Client): Promise<{ effects: string[]; jobs: string[]; ledger: string[] }> {
  const hasEffects = (await client.query(`select to_regclass('effect') is not null as yes`)).rows[0].yes as boolean
  const list = async (text: string): Promise<string[]> => (await client.query(text)).rows.map(({ name }) => name as string)
  return {
    effects: hasEffects ? await list('select name from effect order by name') : [],
    jobs: await list('select kind as name from sluice.job order by kind'),
    ledger: await list('select kind as name from sluice.job_ledger order by kind'),
  }
}
