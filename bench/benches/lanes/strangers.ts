/**
 * Strangers: a thousand lanes and the open lane all have work for a long time; now and then a lane that nobody has seen gets a
 * single job. How many claims does the worker send after the commit of that job and before the one that takes it?
 */
import { createEngine, defineKind } from '@sluice/engine'
import { z } from 'zod'
import type { Ground } from '../../ground.ts'
import { pause } from '../../measure/clock.ts'
import { median, quantile } from '../../measure/statistics.ts'
import { prove } from '../../proof.ts'
import { within } from '../../servers/postgres.ts'

const lanes = 1_000
const slots = 20
const workMs = 5

export async function strangers(ground: Ground, quick: boolean) {
  const visitors = quick ? 20 : 60
  const jobs = quick ? 15_000 : 40_000
  const place = await ground.preparedPlace('sluice in lanes')
  let claims = 0
  /** The claim that was answered last. They go one after the other while lanes have work, and the next is sent before the jobs of this one start. */
  let answered = 0
  const started = new Map<number, PromiseWithResolvers<number>>()
  /** Whoever comes first, the start or the return of its enqueue, makes the entry. */
  const startOf = (n: number): PromiseWithResolvers<number> => {
    const known = started.get(n) ?? Promise.withResolvers<number>()
    started.set(n, known)
    return known
  }
  const busy = defineKind('bench.busy', { run: () => pause(workMs) })
  const stranger = defineKind('bench.stranger', {
    payload: z.object({ n: z.number() }),
    run: ({ payload }) => startOf(payload.n).resolve(answered),
  })
  const engine = createEngine({
    database: place.databaseUrl,
    kinds: [busy, stranger],
    pools: { light: { core: slots, max: slots } },
    probe: (point) => {
      if (point === 'claim sent') claims += 1
      if (point === 'claimed') answered = claims
    },
  })
  for (let first = 0; first < jobs; first += 5_000) {
    const numbers = Array.from({ length: 5_000 }, (_, at) => first + at)
    await engine.enqueueMany(numbers.map((n) => busy({ n }, { lane: `busy:${n % lanes}` })))
    await engine.enqueueMany(numbers.map((n) => busy({ n })))
  }
  await place.settle()
  await engine.start()
  // Until each lane has had its first job, they are all strangers.
  await within(place.databaseUrl, async (client) => {
    const strange = async () => (await client.query(`select from sluice.turn where served_at = '-infinity' limit 1`)).rowCount
    while ((await strange()) !== 0) await pause(20)
  })
  const waits: number[] = []
  for (let n = 0; n < visitors; n += 1) {
    await engine.enqueue(stranger({ n }, { lane: `stranger:${n}` }))
    const sent = claims
    waits.push(Math.max(0, (await startOf(n).promise) - sent - 1)) // not the one that takes it
    await pause(10)
  }
  await engine.stop()
  await within(place.databaseUrl, async (client) => {
    const { rows } = await client.query<{ open: number; laned: number }>(
      `select count(*) filter (where lane = '')::int as open, count(distinct lane) filter (where lane <> '')::int as laned from sluice.job`,
    )
    const { open = 0, laned = 0 } = rows[0] ?? {}
    prove(open > 0 && laned > lanes / 2, `open lane and other lanes were busy to the end (${open} jobs, ${laned} lanes)`)
  })
  await place.drop()
  return {
    claimsBeforeStranger: quantile(waits, 0.95),
    mostClaims: Math.max(...waits),
    medianClaims: median(waits),
    strangers: visitors,
    lanes,
    slots,
    claims,
  }
}
