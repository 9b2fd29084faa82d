/**
 * Enqueue in your own transaction: the order and the job that sends its receipt are stored together, or neither is.
 *
 * Hand `enqueue` the client on which your transaction is open. Anything with `query(text, values)` will do, so most query
 * builders and ORMs can carry a job. Rolled back means: there was never a job.
 */
import { createEngine, defineKind } from '@sluice/engine'
import { findDatabase } from '@sluice/local-postgres'
import pg from 'pg'
import { z } from 'zod'

const sendReceipt = defineKind('receipt.send', {
  payload: z.object({ order: z.number() }),
  run: ({ payload }) => console.log(`receipt for order ${payload.order} is sent`),
})

const database = await findDatabase({ env: process.env, dataFolder: '.sluice/postgres' })
const engine = createEngine({ database: database.url, kinds: [sendReceipt] })
const client = new pg.Client(database.url)
await client.connect()
await client.query('create table if not exists example_order (id serial primary key, item text not null)')

async function placeOrder(item: string, end: 'commit' | 'rollback'): Promise<number> {
  await client.query('begin')
  const { rows } = await client.query<{ id: number }>('insert into example_order (item) values ($1) returning id', [item])
  const order = rows[0]?.id ?? 0
  const { id } = await engine.enqueue(sendReceipt({ order }), { client })
  await client.query(end)
  return id
}

const changedMind = await placeOrder('a kite', 'rollback')
console.log(`after the rollback job ${changedMind} is ${(await engine.find(changedMind)) ? 'there' : 'nowhere'}`)

const bought = await placeOrder('a kettle', 'commit')
console.log(`after the commit job ${bought} is ${(await engine.find(bought))?.state}`)

await engine.start()
while ((await engine.find(bought))?.state !== 'succeeded') await new Promise((resolve) => setTimeout(resolve, 20))
await client.end()
await engine.stop()
await database.stop()
