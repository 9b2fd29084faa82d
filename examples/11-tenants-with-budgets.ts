/**
 * Tenants with budgets: each has a lane, and how many calls are left in it is what the server said last.
 *
 * A claim takes its permit from the lane in the same statement, so no number of workers can overdraw it. Of a budget that nobody knows one job
 * finds out; the rest waits. A lane that is used up closes until its reset and costs nothing meanwhile, however many jobs wait in it.
 */
import { createEngine, defineKind } from '@sluice/engine'
import { findDatabase } from '@sluice/local-postgres'
import { z } from 'zod'

/** A server that gives each tenant so many calls an hour and says in each answer how many are left. */
const resetAt = new Date(Date.now() + 3_600_000)
const budgets = new Map([
  ['ada', 5],
  ['ben', 12],
])
const refused: string[] = []
function callServer(tenant: string): { remaining: number; resetAt: Date } {
  const left = (budgets.get(tenant) ?? 0) - 1
  if (left < 0) refused.push(tenant)
  budgets.set(tenant, left)
  return { remaining: Math.max(0, left), resetAt }
}

const fetchPage = defineKind('page.fetch', {
  payload: z.object({ page: z.int() }),
  lane: ({ owner }) => `api:${owner}:core`,
  run({ owner, report }) {
    report(callServer(owner ?? '')) // usually from the headers of an answer; counts however the job ends
  },
})

const database = await findDatabase({ env: process.env, dataFolder: '.sluice/postgres' })
const engine = createEngine({
  database: database.url,
  kinds: [fetchPage],
  lanes: { 'api:*:core': { budget: { floor: 2 }, cap: 4 } }, // two calls are left for others, four run at once
})
for (const owner of ['ada', 'ben'])
  await engine.enqueueMany(Array.from({ length: 20 }, (_, page) => fetchPage({ page }, { owner })))
await engine.start()

for (const owner of ['ada', 'ben']) {
  let lane = await engine.lanes.find(`api:${owner}:core`)
  while (lane?.remaining !== 2 || lane.inFlight > 0) lane = await engine.lanes.find(`api:${owner}:core`)
  console.log(
    `${owner}: ${lane.remaining} left, ${lane.closed ? 'closed' : 'open'} until ${lane.resetAt?.getTime() === resetAt.getTime() ? 'the reset' : 'then'}`,
  )
}
console.log(`refused by the server: ${refused.length}`)
const waiting = await engine.enqueue(fetchPage({ page: 99 }, { owner: 'ada' }))
console.log(`why does page 99 wait? ${(await engine.why(waiting.id)).reason}`)

await engine.inspect.bulk('cancel', { kind: 'page.fetch' }) // nobody would run what waits here
await engine.stop()
await database.stop()
