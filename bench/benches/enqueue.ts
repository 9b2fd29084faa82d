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

type Manner = 'bulk' | 'single'

export const enqueueBench: Bench = {
  about: 'jobs a second that one process stores, in bulk calls and by 64 callers at once with a job each',
  needsRedis: true,
  headline: { figure: 'jobsPerSecond', unit: 'jobs/s' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const tallies = { bulk: new Tally(), single: new Tally() }
    const manners = ground.entries.flatMap((entry) =>
      (entry.side === 'floor' ? (['bulk'] as const) : (['bulk', 'single'] as const)).map((manner) => ({ ...entry, manner })),
    )
    for (const { round, contender } of turns(manners, plan, isOutsider)) {
      const { name, manner, side } = contender
      const { jobs, capMs } = size(contender, manner, quick)
      const place = await ground.preparedPlace(contender.name)
      await place.settle()
      const figures = await startChild('enqueue', { contender: name, place, manner, jobs, capMs }).result
      prove(figures.stored === figures.jobs, `${name} stored ${figures.jobs} jobs (it has ${figures.stored})`)
      if (side !== 'peer') await proveKeyed(place.database, figures.jobs)
      if (side === 'ours') await proveSameStatements(ground, place.database, 'enqueue')
      await place.drop()
      tallies[manner].add(name, figures.jobsPerSecond)
      report({ round, contender: `${name}, ${manner}`, figures: { manner, ...figures } })
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

/** Peers whose single enqueues each wait for the disk are stopped after a while and judged by what they had stored. */
function size({ settings }: Entry, manner: Manner, quick: boolean): { jobs: number; capMs: number } {
  if (manner === 'bulk') return { jobs: settings === 'default' || quick ? 20_000 : 50_000, capMs: 30_000 }
  return { jobs: quick ? 10_000 : 20_000, capMs: quick ? 1_000 : 2_000 }
}
