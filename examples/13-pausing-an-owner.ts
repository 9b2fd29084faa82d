/**
 * Pausing an owner: from the moment it commits, no claim of any process takes a job of this owner, in whatever lane it is.
 *
 * It is one row, however many jobs wait; the jobs themselves are not touched. Others go on. What runs already goes on as well: cancel it if it
 * must not. A token that was revoked is the usual reason.
 */
import { createEngine, defineKind } from '@sluice/engine'
import { findDatabase } from '@sluice/local-postgres'
import { z } from 'zod'

const sync = defineKind('account.sync', {
  payload: z.object({ step: z.int() }),
  run({ owner, payload }) {
    ran.set(owner ?? '', [...(ran.get(owner ?? '') ?? []), payload.step])
  },
})
const ran = new Map<string, number[]>()
const hasRun = async (owner: string, steps: number): Promise<void> => {
  while ((ran.get(owner)?.length ?? 0) < steps) await new Promise((resolve) => setTimeout(resolve, 10))
}

const database = await findDatabase({ env: process.env, dataFolder: '.sluice/postgres' })
const engine = createEngine({ database: database.url, kinds: [sync] })

await engine.pause({ scope: 'owner', name: 'ada' }, 'token revoked')
for (const step of [1, 2, 3]) for (const owner of ['ada', 'ben']) await engine.enqueue(sync({ step }, { owner }))
const last = await engine.enqueue(sync({ step: 4 }, { owner: 'ada', lane: 'steps:ada' }))
await engine.start()

await hasRun('ben', 3)
console.log(`ben has run ${ran.get('ben')?.length} steps, ada ${ran.get('ada')?.length ?? 0}`)
console.log((await engine.why(last.id)).text)
for (const { scope, name, reason } of await engine.pauses()) console.log(`paused: ${scope} ${name}, ${reason}`)

await engine.resume({ scope: 'owner', name: 'ada' })
await hasRun('ada', 4)
console.log(`resumed: ada has run ${ran.get('ada')?.length} steps`)

await engine.stop()
await database.stop()
