/**
 * Events: the shop says that an order was placed, and whoever subscribed gets a job for it.
 *
 * The event and the jobs of its subscribers commit with your own writes, so nothing is lost between the commit and a listener. Each
 * subscriber is retried by itself, and its own write is there once. The shop knows the event and none of the code that hears it.
 */
import { createEngine, defineEvent, defineKind, done, retry } from '@sluice/engine'
import { findDatabase } from '@sluice/local-postgres'
import pg from 'pg'
import { z } from 'zod'

const order = z.object({ order: z.number() })
const orderPlaced = defineEvent('order.placed', { payload: order })
const stockTaken = defineEvent('stock.taken', { payload: order })

const sendReceipt = defineKind('receipt.mail', {
  payload: order,
  on: [orderPlaced],
  run({ payload, attempt }) {
    if (attempt === 1) return retry({ after: '50ms' }) // the mail server sulks; nobody else has to wait for it
    console.log(`receipt for order ${payload.order}, at attempt ${attempt}`)
    return done()
  },
})
const takeStock = defineKind('stock.take', {
  payload: order,
  on: [orderPlaced],
  run({ payload }) {
    console.log(`stock for order ${payload.order} is taken`)
    return done({ publish: [stockTaken(payload)] }) // it happened if and only if this job succeeds
  },
})
const pack = defineKind('parcel.pack', {
  payload: order,
  on: [stockTaken],
  async run({ payload, event = 0 }) {
    const cause = (await shop.events.find(event))?.cause
    console.log(`parcel for order ${payload.order} is packed, because of event ${cause}`)
  },
})

const database = await findDatabase({ env: process.env, dataFolder: '.sluice/postgres' })
const workshop = createEngine({ database: database.url, kinds: [sendReceipt, takeStock, pack] })
const shop = createEngine({ database: database.url, events: [orderPlaced] })
const client = new pg.Client(database.url)
await Promise.all([workshop.start(), client.connect()])

await client.query('begin') // … your own writes go here
await shop.publish(orderPlaced({ order: 1 }), { client })
await client.query('rollback') // order 1 was never placed, so nobody hears of it
await client.query(`select sluice.publish('order.placed', '{"order": 2}')`) // any language will do

while ((await client.query('select from sluice.job where event is not null')).rowCount)
  await new Promise((resolve) => setTimeout(resolve, 20))
await Promise.all([workshop.stop(), shop.stop(), client.end()])
await database.stop()
