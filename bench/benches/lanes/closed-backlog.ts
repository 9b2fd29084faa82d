/**
 * A backlog behind closed lanes: half of them paused, half out of budget until later. A worker has met and parked them all, as it
 * does within moments in real life.
 */
import { createEngine, defineKind } from '@sluice/engine'
import type { FreshPlace } from '../../ground.ts'
import { pause } from '../../measure/clock.ts'
import { prove } from '../../proof.ts'
import { within } from '../../servers/postgres.ts'

const lanes = 1_000
const bulk = 10_000
const atOnce = 50

export async function parkBacklog(place: FreshPlace, jobs: number): Promise<void> {
  const kind = defineKind('bench.parked', { run: () => {} })
  const engine = createEngine({
    database: place.databaseUrl,
    kinds: [kind],
    lanes: { 'spent:*': { budget: { floor: 0 } } },
  })
  const resetAt = new Date(Date.now() + 3_600_000)
  const laneOf = (n: number) => `${n % 2 ? 'paused' : 'spent'}:${n % lanes}`
  const close = (n: number) =>
    n % 2 ? engine.lanes.pause(laneOf(n), 'bench') : engine.lanes.sync(laneOf(n), { remaining: 0, resetAt })
  for (let first = 0; first < lanes; first += atOnce)
    await Promise.all(Array.from({ length: atOnce }, (_, at) => close(first + at)))
  for (let first = 0; first < jobs; first += bulk)
    await engine.enqueueMany(Array.from({ length: bulk }, (_, at) => kind({ n: first + at }, { lane: laneOf(first + at) })))
  await engine.start()
  await within(place.databaseUrl, async (client) => {
    const waiting = async () => (await client.query('select from sluice.turn where open limit 1')).rowCount
    while ((await waiting()) !== 0) await pause(20)
    await engine.stop()
    await client.query('vacuum analyze')
  })
  await place.settle()
}

export async function proveParked({ databaseUrl }: FreshPlace, jobs: number): Promise<void> {
  const { rows } = await within(databaseUrl, (client) =>
    client.query<{ ready: number }>(
      `select count(*)::int as ready from sluice.job where kind = 'bench.parked' and shelf is null and worker is null and attempt = 0`,
    ),
  )
  prove(rows[0]?.ready === jobs, `${jobs} jobs behind closed lanes were left alone (${rows[0]?.ready})`)
}
