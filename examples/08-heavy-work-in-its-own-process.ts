/**
 * Heavy work in a process of its own: a kind that keeps the processor busy names a module, and `compute` runs its default export in
 * another process. Light jobs of this process go on meanwhile, and if the module hangs or dies, only its own attempt does.
 *
 * Put such kinds into the pool `heavy`, which has slots of its own.
 */
import { createEngine, defineKind } from '@sluice/engine'
import { findDatabase } from '@sluice/local-postgres'
import { z } from 'zod'

let counted: () => void
const finished = new Promise<void>((resolve) => {
  counted = resolve
})
let ticks = 0

const countPrimes = defineKind('prime.count', {
  payload: z.object({ below: z.int() }),
  pool: 'heavy',
  timeout: '1m', // past it the process is killed
  module: new URL('./count-primes.js', import.meta.url),
  async run({ payload, compute }) {
    const count = (await compute()) as number // it gets the payload, unless you give it something else
    console.log(`${count} primes below ${payload.below}, and ${ticks > 0 ? 'light jobs ran' : 'nothing else ran'} meanwhile`)
    counted()
  },
})
const tick = defineKind('clock.tick', { run: () => void ticks++ })

const database = await findDatabase({ env: process.env, dataFolder: '.sluice/postgres' })
const engine = createEngine({ database: database.url, kinds: [countPrimes, tick] })
await engine.start()
await engine.enqueueMany([countPrimes({ below: 50_000_000 }), ...Array.from({ length: 5 }, () => tick({}))])

await finished
await engine.stop()
await database.stop()
