/**
 * Testing your handler, in two ways. Both come from `@sluice/engine/testing` and need no worker and no waiting.
 *
 * `runHandler` calls it with a payload and gives you the outcome as a value: no database, nothing is written. `createTestKit` runs jobs
 * inline on a real database, children and transactions included, and turns the clock, so that a week of retries takes a moment. It wants a
 * database of its own, because it runs whatever lies there: `startTestServer` starts a PostgreSQL that goes with this program.
 */
import assert from 'node:assert/strict'
import { defineKind, delays, done } from '@sluice/engine'
import { createTestKit, runHandler } from '@sluice/engine/testing'
import { startTestServer } from '@sluice/local-postgres/testing'
import { z } from 'zod'

interface Services {
  readonly shop: { stock(item: string): Promise<number> }
}

const notify = defineKind('stock.notify', { payload: z.object({ item: z.string() }), run: () => {} })
const watch = defineKind('stock.watch', {
  payload: z.object({ item: z.string() }),
  retry: delays(['1h', '1d']),
  async run({ payload }, { shop }: Services) {
    const left = await shop.stock(payload.item)
    return done({ next: left === 0 ? [notify(payload)] : [] })
  },
})

// Alone: a payload goes in, an outcome comes out.
const empty: Services = { shop: { stock: async () => 0 } }
const outcome = await runHandler(watch, { item: 'tea' }, { services: empty })
assert.equal(outcome.type === 'done' && outcome.next?.length, 1)
console.log('out of stock: one notification would follow')

// On a database: the shop is closed on the first two tries.
let tries = 0
const moody: Services = {
  shop: {
    async stock() {
      if (++tries < 3) throw new Error('closed')
      return 0
    },
  },
}
const server = await startTestServer() // once for all tests
const database = await server.createDatabase() // once for each
const kit = await createTestKit({ database: database.url, kinds: [watch, notify], services: moody })
const told = async (): Promise<string> => (await kit.drain()).map(({ kind, outcome }) => `${kind} ${outcome}`).join(', ')
await kit.enqueue(watch({ item: 'tea' }))
console.log(`now: ${await told()}`)
await kit.advance('1h')
console.log(`an hour later: ${await told()}`)
await kit.advance('1d')
console.log(`a day later: ${await told()}`)
await kit.close()
await server.stop()
