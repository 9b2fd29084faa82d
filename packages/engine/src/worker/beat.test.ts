/** What the heartbeat says there is to do: for each pool by itself, without a look at what waits elsewhere. */
import { expect } from 'vitest'
import { test } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'

const [light, heavy, many] = ['light', 'heavy', 'many'].map((pool) => defineKind(`in.${pool}`, { pool, run: () => {} }))

test('[E-11] [E-20] a pool is woken for what lies in it, and not for what lies in another', async ({ engines, client }) => {
  const engine = engines({ kinds: [light!, heavy!, many!], pools: { light: { core: 1, max: 1 } } })
  await engine.migrate()
  await client.query(
    `insert into sluice.worker (id, name, lease_until, kinds) values (1000, 'me', now() + interval '1 h', '{in.light,in.heavy,in.many}')`,
  )
  const beat = async (): Promise<{ ready: string[]; turns: string[] }> =>
    (await client.query(`select ready, turns from sluice.beat(1000, 60000, '{light,heavy,many}', '{}', false, '{}')`)).rows[0]
  expect(await beat()).toEqual({ ready: [], turns: [] })
  await engine.enqueue(heavy!({}))
  expect(await beat()).toEqual({ ready: ['heavy'], turns: [] })
  await engine.enqueue(light!({}, { lane: 'slow' }))
  expect(await beat()).toEqual({ ready: ['heavy'], turns: ['light'] })
  await engine.enqueueMany(Array.from({ length: 20 }, (_, n) => many!({ n }))) // a parcel
  expect(await beat()).toEqual({ ready: ['heavy', 'many'], turns: ['light'] })
  await client.query('update sluice.turn set open = false') // as a claim leaves it that found the lane closed
  expect(await beat()).toEqual({ ready: ['heavy', 'many'], turns: [] })
  await engine.pause({ scope: 'pool', name: 'heavy' })
  expect(await beat()).toEqual({ ready: ['many'], turns: [] })
})
