/**
 * Delayed jobs start at their time: `delay` counts from now, `runAt` names a date.
 *
 * Nobody polls for them. The leading process sleeps until the next one falls due and is woken when something earlier arrives.
 * A debounced job is put off each time it is asked for, and runs once with the last payload.
 */
import { createEngine, defineKind } from '@sluice/engine'
import { findDatabase } from '@sluice/local-postgres'
import { z } from 'zod'

let startMs = Date.now()
let left = 3
let last: () => void
const finished = new Promise<void>((resolve) => {
  last = resolve
})
const remind = defineKind('calendar.remind', {
  payload: z.object({ text: z.string() }),
  run({ payload }) {
    console.log(`after ${Math.round((Date.now() - startMs) / 100) / 10} s: ${payload.text}`)
    if (--left === 0) last()
  },
})

const database = await findDatabase({ env: process.env, dataFolder: '.sluice/postgres' })
const engine = createEngine({ database: database.url, kinds: [remind] })
await engine.start()
startMs = Date.now()

const late = await engine.enqueue(remind({ text: 'water the plants' }, { runAt: new Date(Date.now() + 5_000) }))
await engine.enqueue(remind({ text: 'call back' }, { delay: '1s' })) // earlier than the first: wakes the leader
const { reason, text } = await engine.why(late.id)
console.log(`why does it not run? ${reason}: ${text}`)

for (const draft of ['first draft', 'second draft', 'final version'])
  await engine.enqueue(remind({ text: `save the ${draft}` }, { delay: '3s', key: 'save', dedupe: 'debounce' }))

await finished
await engine.stop()
await database.stop()
