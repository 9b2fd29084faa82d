/**
 * Circles: a lane has spent its budget and thousands of jobs wait in it. How many claims are sent, how many of its jobs are touched in PostgreSQL, and how many ids
 * are released in Redis while it is closed? A row that was written has another version, whatever was written to it.
 */
import { createEngine, defineKind } from '@sluice/engine'
import { Redis as Client } from 'ioredis'
import type { Ground } from '../../ground.ts'
import { pause } from '../../measure/clock.ts'
import { prove } from '../../proof.ts'
import { within } from '../../servers/postgres.ts'
import { callsOf } from './command-stats.ts'

const limit = 50
const calmMs = 3_000

export async function circles(ground: Ground, quick: boolean) {
  const jobs = quick ? 2_000 : 20_000
  const watchMs = quick ? 5_000 : 20_000
  const place = await ground.preparedPlace('sluice in lanes')
  let calls = 0
  let claims = 0
  const resetAt = new Date(Date.now() + 3_600_000)
  const kind = defineKind('bench.metered', {
    run: ({ report }) => {
      calls += 1
      report({ remaining: Math.max(0, limit - calls), resetAt })
    },
  })
  const engine = createEngine({
    database: place.databaseUrl,
    kinds: [kind],
    lanes: { spent: { budget: { limit, floor: 0 } } },
    redis: `unix://${place.redisSocket}`,
    probe: (point) => {
      if (point === 'claim sent') claims += 1
    },
  })
  const client = new Client({ path: place.redisSocket ?? '' })
  await engine.start()
  await engine.enqueueMany(Array.from({ length: jobs }, (_, n) => kind({ n }, { lane: 'spent' })))
  while (calls < limit || engine.status().running > 0) await pause(20)
  await pause(calmMs)
  const versions = () =>
    within(place.databaseUrl, async (on) => {
      const { rows } = await on.query<{ id: string; version: string }>('select id, xmin::text as version from sluice.job')
      return new Map(rows.map(({ id, version }) => [id, version]))
    })
  const before = await versions()
  prove(before.size === jobs - limit, `${jobs - limit} jobs wait in a lane that has spent its budget (${before.size})`)
  const claimsBefore = claims
  await client.config('RESETSTAT')
  await pause(watchMs)
  const released = (await callsOf(client))['xadd'] ?? 0
  const after = await versions()
  const claimed = claims - claimsBefore
  const touched = [...before].filter(([id, version]) => after.get(id) !== version).length
  prove(engine.status().dispatch.by === 'redis', 'Redis dispatched')
  // The lane was closed, and not broken: with a new window it goes on.
  await engine.lanes.sync('spent', { remaining: 10, resetAt: new Date(resetAt.getTime() + 3_600_000) })
  while (calls === limit) await pause(20)
  await engine.stop()
  client.disconnect()
  await place.drop()
  return { circles: claimed + touched + released, claimed, touched, released, waiting: before.size, watchMs }
}
