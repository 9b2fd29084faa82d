/**
 * Latency: from the call of enqueue in one process to the start of the handler on an idle worker in another.
 */
import type { Bench } from '../bench.ts'
import { turns } from '../measure/rounds.ts'
import { quantile } from '../measure/statistics.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { proveApart, proveBooked, proveDurable } from '../proof.ts'
import { isBullmqOnRedis, isPostgresPeer } from './side.ts'

export const latencyBench: Bench = {
  about: 'from the call of enqueue in one process to the start of the handler on an idle worker in another (median)',
  needsRedis: true,
  headline: { figure: 'p50Ms', unit: 'ms' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const p50 = new Tally()
    const p95 = new Tally()
    const size = quick ? { samples: 60, warmUp: 5, capMs: 3_000 } : { samples: 100, warmUp: 10, capMs: 6_000 }
    for (const { round, contender } of turns(
      ground.entries.filter(({ side }) => side !== 'floor'),
      plan,
      ({ name }) => name === 'pg-boss default', // it looks every two seconds
    )) {
      const place = await ground.preparedPlace(contender.name)
      await place.settle()
      const { latenciesMs, sent, pid, workerPid } = await startChild('sendSamples', { contender: contender.name, place, ...size })
        .result
      proveApart('enqueue and handler', [pid, workerPid])
      if (contender.side === 'ours') await proveBooked(place.database, sent)
      await place.drop()
      const figures = { p50Ms: quantile(latenciesMs, 0.5), p95Ms: quantile(latenciesMs, 0.95), samples: latenciesMs.length }
      p50.add(contender.name, figures.p50Ms)
      p95.add(contender.name, figures.p95Ms)
      report({ round, contender: contender.name, figures: { ...figures, pid, workerPid } })
    }
    const best = { p50: p50.best(isPostgresPeer(ground), 'less'), p95: p95.best(isPostgresPeer(ground), 'less') }
    const bullmq = p50.best(isBullmqOnRedis(ground), 'less')
    const ours = { p50: p50.median('sluice tuned'), p95: p95.median('sluice tuned') }
    return {
      p50RatioToBestPostgresPeer: best.p50 ? ours.p50 / best.p50.value : null,
      p95RatioToBestPostgresPeer: best.p95 ? ours.p95 / best.p95.value : null,
      p50RatioToBullmq: bullmq ? ours.p50 / bullmq.value : null,
      p50BestPostgresPeer: best.p50?.name ?? null,
      p95BestPostgresPeer: best.p95?.name ?? null,
      p50Ms: p50.medians(),
      p95Ms: p95.medians(),
      proof,
    }
  },
}
