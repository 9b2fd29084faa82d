/**
 * Cancel: a job that waits is gone at once; one that runs is asked to stop by its signal, in whatever process it runs.
 *
 * Pass `signal` to what you wait for (fetch and timers take it) and let it throw: a handler that gives up after it was asked to has
 * canceled its job, and nothing of what it would have written is written. `tree: true` takes the jobs that it started along.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { createEngine, defineKind } from '@sluice/engine'
import { findDatabase } from '@sluice/local-postgres'
import { z } from 'zod'

let underWay: () => void
const begun = new Promise<void>((resolve) => {
  underWay = resolve
})
const render = defineKind('film.render', {
  payload: z.object({ film: z.string() }),
  async run({ payload, signal }) {
    console.log(`rendering ${payload.film} …`)
    underWay()
    await wait(3_600_000, undefined, { signal }) // an hour of work, unless it is stopped
  },
})

const database = await findDatabase({ env: process.env, dataFolder: '.sluice/postgres' })
const worker = createEngine({ database: database.url, kinds: [render] })
await worker.start()

const office = createEngine({ database: database.url }) // usually another process: it defines no kinds and runs nothing
const running = await worker.enqueue(render({ film: 'Metropolis' }))
const waiting = await worker.enqueue(render({ film: 'Nosferatu' }, { delay: '1h' }))
await begun

for (const { id } of [waiting, running]) {
  const answer = (await office.cancel(id, { reason: 'the cinema is closed' })).get(id)
  console.log(`cancel job ${id}: ${answer}`)
}
while ((await office.find(running.id))?.state !== 'canceled') await wait(20)
console.log(`both are ${(await office.find(waiting.id))?.state}; the handler stopped within milliseconds`)

await office.stop()
await worker.stop()
await database.stop()
