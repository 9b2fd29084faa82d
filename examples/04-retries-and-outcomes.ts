/**
 * Retries and outcomes: how an attempt ends is a value that the handler returns, and throwing means "try again".
 *
 *   done()    finished; may say what to write and which jobs come next, and all of it commits at once
 *   retry()   like throwing: counts as an attempt, waits as the kind's policy says, or as long as you say
 *   snooze()  not now: comes back later and counts as nothing
 *   fail()    trying again would not help: stays visible until somebody retries or discards it
 *   cancel()  no longer wanted
 */
import { createEngine, defineKind, delays, done, fail, snooze } from '@sluice/engine'
import { findDatabase } from '@sluice/local-postgres'
import { z } from 'zod'

let open = false // the bank opens while we wait
const transfer = defineKind('money.transfer', {
  payload: z.object({ to: z.string() }),
  retry: delays(['50ms', '100ms']), // two delays are three attempts
  run({ payload, attempt }) {
    if (payload.to === 'nobody') return fail(new Error('no such account'))
    if (!open) {
      open = true
      return snooze('100ms')
    }
    if (attempt < 3) throw new Error('the line is busy')
    return done()
  },
})

const database = await findDatabase({ env: process.env, dataFolder: '.sluice/postgres' })
const engine = createEngine({ database: database.url, kinds: [transfer] })
await engine.start()

async function ended(id: number): Promise<string> {
  for (;;) {
    const state = (await engine.find(id))?.state
    if (state === 'succeeded' || state === 'failed') return state
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const toAnn = await engine.enqueue(transfer({ to: 'ann' }))
console.log(`transfer to ann: ${await ended(toAnn.id)}`)
for (const { attempt, outcome, error } of await engine.attempts(toAnn.id))
  console.log(`  attempt ${attempt}: ${outcome}${error ? `, ${error.message}` : ''}`)

const toNobody = await engine.enqueue(transfer({ to: 'nobody' }))
console.log(`transfer to nobody: ${await ended(toNobody.id)}`)
const dead = (await engine.failed()).find(({ id }) => id === toNobody.id)
console.log(`  still visible: attempt ${dead?.attempt}, ${dead?.error?.message}`)
console.log(`  discarded: ${await engine.discard(toNobody.id)}`) // or engine.retry(id) once the account exists

await engine.stop()
await database.stop()
