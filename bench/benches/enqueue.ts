/**
 * Enqueue: how many jobs a second one process stores, in bulk calls and by 64 callers at once with a job each.
 */
import type { Bench } from '../bench.ts'
import type { Entry } from '../contenders/roster.ts'
import { turns } from '../measure/rounds.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { prove, proveDurable, proveKeyed, proveSameStatements } from '../proof.ts'
import { isOutsider, isPeer } from './side.ts'

export const enqueueBench: Bench = {
  about: 'jobs a second that one process stores, in bulk calls and by 64 callers at once with a job each',
  needsRedis: true,
  headline: { figure: 'jobsPerSecond', unit: 'jobs/s' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const tallies = { bulk: new Tally(), single: new Tally() }
    for (const { round, contender } of turns(ground.entries, plan, isFarAway)) {
      const { name, side } = contender
      const place = await ground.preparedPlace(name)
      await place.settle()
      let stored = 0
      for (const manner of side === 'floor' ? (['bulk'] as const) : (['single', 'bulk'] as const)) {
        const size = sizeOf(contender, manner, quick)
        const figures = await startChild('enqueue', { contender: name, place, manner, first: stored, ...size }).result
        stored += figures.jobs
        prove(figures.stored === stored, `${name} stored ${stored} jobs (it has ${figures.stored})`)
        tallies[manner].add(name, figures.jobsPerSecond)
        report({ round, contender: `${name}, ${manner}`, figures: { manner, ...figures } })
      }
      if (side !== 'peer') await proveKeyed(place.database, stored)
      if (side === 'ours') await proveSameStatements(ground, place.database, 'enqueue')
      await place.drop()
    }
    const best = { bulk: tallies.bulk.best(isPeer(ground), 'more'), single: tallies.single.best(isPeer(ground), 'more') }
    const ours = { bulk: tallies.bulk.median('sluice tuned'), single: tallies.single.median('sluice tuned') }
    return {
      bulkRatioToBestPeer: best.bulk ? ours.bulk / best.bulk.value : null,
      bulkRatioToFloor: ours.bulk / tallies.bulk.median('floor'),
      singleRatioToBestPeer: best.single ? ours.single / best.single.value : null,
      bulkBestPeer: best.bulk?.name ?? null,
      singleBestPeer: best.single?.name ?? null,
      bulkJobsPerSecond: tallies.bulk.medians(),
      singleJobsPerSecond: tallies.single.medians(),
      proof,
    }
  },
}

/** BullMQ on Redis enqueues alike by default and tuned: its settings are about working. */
const isFarAway = (entry: Entry): boolean => isOutsider(entry) && entry.name !== 'bullmq-redis default'

/** Peers whose single enqueues each wait for the disk are stopped after a while and judged by what they had stored. */
function sizeOf({ settings }: Entry, manner: 'bulk' | 'single', quick: boolean): { jobs: number; capMs: number } {
  if (manner === 'bulk') return { jobs: settings === 'default' || quick ? 20_000 : 50_000, capMs: 30_000 }
  return { jobs: quick ? 10_000 : 20_000, capMs: quick ? 1_000 : 2_000 }
}
