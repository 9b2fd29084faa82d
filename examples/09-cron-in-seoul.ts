/**
 * A schedule: every night at 00:05 in Seoul, wherever the server stands.
 *
 * The leading process sleeps until the stored next fire and enqueues the job in the transaction that moves it on, so each night has one job,
 * whoever is killed on the way. Given to `createEngine({ schedules })`, it is stored when the engine starts; a start does not put it off.
 * The testing kit turns the clock here, on a database of its own, so that three nights take a moment.
 */
import { defineKind, defineSchedule } from '@sluice/engine'
import { createTestKit } from '@sluice/engine/testing'
import { startTestServer } from '@sluice/local-postgres/testing'
import { z } from 'zod'

const close = defineKind('books.close', {
  payload: z.object({ shop: z.string() }),
  run({ payload }) {
    console.log(`closing the books of ${payload.shop}`)
  },
})

const nightly = defineSchedule('books.nightly', {
  cron: '5 0 * * *',
  zone: 'Asia/Seoul',
  job: close({ shop: 'Insa-dong' }, { priority: 5 }),
  overlap: 'forbid', // not while last night's job is still at work
  catchUp: 'latest', // after a downtime one job makes up for all …
  deadline: '12h', // … unless half a day has passed
})

const inSeoul = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Seoul', timeStyle: 'short' })
const server = await startTestServer()
const database = await server.createDatabase()
const kit = await createTestKit({ database: database.url, kinds: [close], schedules: [nightly] })

const { nextFires } = await kit.schedules.show('books.nightly', { fires: 3 })
console.log(`the next three fires in Seoul: ${nextFires.map((fire) => inSeoul.format(fire)).join(', ')}`)
for (let night = 1; night <= 3; night++) {
  await kit.advance('1d')
  await kit.drain()
}
await kit.schedules.pause('books.nightly', 'holidays')
await kit.advance('7d')
const { fired, pausedReason } = await kit.schedules.show('books.nightly')
console.log(`${fired} nights, then a week of ${pausedReason}`)
await kit.schedules.runNow('books.nightly') // by hand, paused or not
await kit.drain()
await kit.close()
await server.stop()
