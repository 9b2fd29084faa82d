/**
 * Closing: a lane with a very long backlog is paused, resumed, held, emptied of its budget and filled again while a worker serves it. Each is
 * timed from the call to its return, when every claim of every process obeys; the figure is the slowest of their medians.
 */
import { createEngine, defineKind } from '@sluice/engine'
import type { Ground } from '../../ground.ts'
import { monotonicMs, pause } from '../../measure/clock.ts'
import { Tally } from '../../measure/tally.ts'
import { prove } from '../../proof.ts'
import { within } from '../../servers/postgres.ts'

const lane = 'long'
const backlog = `
  with put as (
    insert into sluice.job (kind, pool, lane, priority, rank, payload, max_attempts, created_at)
    select 'bench.long', 'light', $1, 0, date_part('epoch', at) * 1000, jsonb_build_object('n', n), 5, at
    from generate_series(1, $2::bigint) as n, sluice.now() as at
    returning rank)
  select sluice.line_up(array[row('light', $1, min(rank))::sluice.ready_job]) from put`

export async function closing(ground: Ground, quick: boolean) {
  const jobs = quick ? 100_000 : 1_000_000
  const rounds = quick ? 15 : 30
  const place = await ground.preparedPlace('sluice in lanes')
  const kind = defineKind('bench.long', { run: () => pause(20) })
  const engine = createEngine({ database: place.databaseUrl, kinds: [kind], pools: { light: { core: 5, max: 5 } } })
  await engine.lanes.pause(lane, 'bench')
  await within(place.databaseUrl, (client) => client.query(backlog, [lane, jobs]))
  await place.settle()
  await engine.start()
  const tally = new Tally()
  const time = async (what: string, act: () => Promise<void>) => {
    const startedAtMs = monotonicMs()
    await act()
    tally.add(what, monotonicMs() - startedAtMs)
    await pause(30) // the worker meets it as it is now
  }
  for (let round = 1; round <= rounds; round += 1) {
    const resetAt = new Date(Date.now() + round * 60_000)
    await time('resume', () => engine.lanes.resume(lane))
    await time('hold', () => engine.lanes.hold(lane, new Date(Date.now() + 20)))
    await time('spent', () => engine.lanes.sync(lane, { remaining: 0, resetAt }))
    await time('refilled', () => engine.lanes.sync(lane, { remaining: 10_000, resetAt: new Date(resetAt.getTime() + 30_000) }))
    await time('pause', () => engine.lanes.pause(lane, 'bench'))
  }
  await engine.stop()
  const left = await within(place.databaseUrl, async (client) => {
    const { rows } = await client.query<{ left: number }>(
      `select count(*)::int as left from sluice.queued where lane = $1 and worker is null`,
      [lane],
    )
    return rows[0]?.left ?? 0
  })
  prove(left > jobs * 0.9 && left < jobs, `most of the ${jobs} jobs still wait, and some ran (${left})`)
  await place.drop()
  const medians = tally.medians()
  return {
    closeMs: Math.max(...Object.values(medians)),
    jobs,
    rounds,
    ...Object.fromEntries(Object.entries(medians).map(([what, ms]) => [`${what}Ms`, ms])),
  }
}
