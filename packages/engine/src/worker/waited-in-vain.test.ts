/** A dedupe key in a stranger's open transaction: what has to wait for it waits, and nothing else does. */
import pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { serverWaits } from '../../../../test/support/onlooker.ts'
import { defineKind } from '../job/kind.ts'
import { done, type Outcome } from '../job/outcome.ts'

const keyed = defineKind('keyed', { dedupe: 'keep', payload: z.object({ key: z.string() }), run: () => {} })
const write = (tx: { query(text: string): Promise<unknown> }): Promise<unknown> => tx.query('insert into noted values (1)')

const ways: [name: string, outcome: (key: string) => Outcome, written: number][] = [
  ['children', (key) => done({ next: [keyed({ key })] }), 0],
  ['a write and children', (key) => done({ write, next: [keyed({ key })] }), 1],
]
const cases = ways.flatMap((way) => ['commit', 'rollback'].map((end) => [way[0], end, way] as const))

/** Twice: more than there are transactions for writes, in as many groups as may be under way. */
const stuck = 8

async function strangerWith(url: string, enqueue: (client: pg.Client) => Promise<unknown>): Promise<pg.Client> {
  const stranger = new pg.Client(url)
  await stranger.connect()
  await stranger.query('begin')
  await enqueue(stranger)
  return stranger
}

test.for(cases)(
  '[E-12] [E-09] ends with %s wait for a stranger’s key until his %s, keep no other job from its end, and no handler runs again',
  async ([_name, end, [, outcome, written]], { engines, client, database }) => {
    await client.query('create table noted (n integer)')
    const ran: number[] = []
    const parent = defineKind('parent', {
      payload: z.object({ key: z.string() }),
      run({ id, payload }) {
        ran.push(id)
        return outcome(payload.key)
      },
    })
    const plain = defineKind('plain', { run: () => {} })
    const writes = defineKind('writes', { run: () => done({ write }) })
    const engine = engines({ kinds: [keyed, parent, plain, writes], pools: { light: { core: 30, max: 30 } }, lease: '3s' })
    await engine.start()
    const stranger = await strangerWith(database.url, (on) => engine.enqueue(keyed({ key: 'held' }), { client: on }))
    const waiting: number[] = []
    for (const groups of [1, 2]) {
      const jobs = await engine.enqueueMany(Array.from({ length: stuck }, () => parent({ key: 'held' })))
      waiting.push(...jobs.map(({ id }) => id))
      await serverWaits(client, 'enqueue', groups)
    }
    const others = await engine.enqueueMany([
      ...Array.from({ length: 5 }, (_, n) => parent({ key: `free ${n}` })),
      plain({}),
      writes({}),
    ])
    for (const { id } of others) await eventually(async () => (await engine.find(id))?.state === 'succeeded')
    const { rows } = await client.query(
      `select sluice.state_of(shelf, worker)::text as state, count(*)::int from sluice.job where kind = 'parent' group by 1`,
    )
    expect(rows).toEqual([{ state: 'running', count: 2 * stuck }])
    await stranger.query(end)
    await stranger.end()
    for (const id of waiting) {
      await eventually(async () => (await engine.find(id))?.state === 'succeeded')
      expect(await engine.attempts(id)).toMatchObject([{ attempt: 1, outcome: 'succeeded' }])
    }
    expect(ran).toHaveLength(2 * stuck + 5)
    expect((await client.query('select from noted')).rowCount).toBe(written * ran.length + 1)
  },
)

test('[E-23] a process that stops while a stranger keeps a key leaves after its limit', async ({ engines, client, database }) => {
  const parent = defineKind('parent', { run: () => done({ next: [keyed({ key: 'held' })] }) })
  const engine = engines({ kinds: [keyed, parent], lease: '1m', grace: '100ms' })
  await engine.start()
  const stranger = await strangerWith(database.url, (on) => engine.enqueue(keyed({ key: 'held' }), { client: on }))
  const { id } = await engine.enqueue(parent({}))
  await serverWaits(client, 'enqueue')
  await engine.stop()
  await stranger.query('rollback')
  await stranger.end()
  const heir = engines({ kinds: [keyed, parent] })
  await heir.start()
  await eventually(async () => (await heir.find(id))?.state === 'succeeded')
})
