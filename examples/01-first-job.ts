/**
 * Your first job. A kind says what a job does, `enqueue` puts one in, and an engine that is started runs it.
 *
 * The job is a row in PostgreSQL before `enqueue` returns, so it survives whatever happens to this program afterwards.
 * Nothing is installed for it: without DATABASE_URL a PostgreSQL of your own starts under .sluice.
 */
import { createEngine, defineKind } from '@sluice/engine'
import { findDatabase } from '@sluice/local-postgres'
import { z } from 'zod'

let greeted: () => void
const finished = new Promise<void>((resolve) => {
  greeted = resolve
})

const greet = defineKind('newcomer.greet', {
  payload: z.object({ name: z.string() }), // checked when the job is enqueued and again when it runs
  run({ payload, attempt }) {
    console.log(`Hello ${payload.name}! (attempt ${attempt})`)
    greeted()
  },
})

const database = await findDatabase({ env: process.env, dataFolder: '.sluice/postgres' })
const engine = createEngine({ database: database.url, kinds: [greet] })

await engine.start() // brings the schema up to date, then waits for work
const { id } = await engine.enqueue(greet({ name: 'Ada' }))
console.log(`job ${id} is stored`)

await finished
await engine.stop() // lets running jobs end and hands back the rest
await database.stop()
console.log('stopped; nothing is left behind')
