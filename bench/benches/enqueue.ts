/**
 * Enqueue: how many jobs a second one process stores, in bulk calls and by 64 callers at once with a job each.
 *
 * Single enqueues take half a second, in which a machine that is shared may do anything: those who come near take part in more rounds of them than of the rest.
 */
import type { Bench } from '../bench.ts'
import type { Entry } from '../contenders/roster.ts'
import { type Turn, turns } from '../measure/rounds.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { prove, proveApart, proveDurable, proveKeyed, proveSameStatements } from '../proof.ts'
import { isOutsider, isPeer } from './side.ts'

export const enqueueBench: Bench = {
  about: 'jobs a second that one process stores, in bulk calls and by 64 callers at once with a job each',
  needsRedis: true,
  headline: { figure: 'jobsPerSecond', unit: 'jobs/s' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const tallies = { bulk: new Tally(), single: new Tally() }
    async function takePart({ round, contender }: Turn<Entry>, manners: readonly Manner[]): Promise<void> {
      const { name, side } = contender
      const place = await ground.preparedPlace(name)
      await place.settle()
      const pids: number[] = []
      let stored = 0
      for (const manner of manners) {
        const size = sizeOf(contender, manner, quick)
        const figures = await startChild('enqueue', { contender: name, place, manner, first: stored, ...size }).result
        pids.push(figures.pid)
        stored += figures.jobs
        prove(figures.stored === stored, `${name} stored ${stored} jobs (it has ${figures.stored})`)
        tallies[manner].add(name, figures.jobsPerSecond)
        report({ round, contender: `${name}, ${manner}`, figures: { manner, ...figures } })
      }
      proveApart('whoever enqueues', pids)
      if (side !== 'peer') await proveKeyed(place.database, stored)
      if (side === 'ours' && manners.includes('bulk')) await proveSameStatements(ground, place.database, 'enqueue')
      await place.drop()
    }
    for (const turn of turns(ground.entries, plan, isFarAway))
      await takePart(turn, turn.contender.side === 'floor' ? ['bulk'] : ['single', 'bulk'])
    const near = ground.entries.filter(({ side, store }) => side === 'ours' || (side === 'peer' && store === 'redis'))
    if (!quick)
      for (const { round, contender } of turns(near, { ...plan, rounds: roundsOfSinglesOnly }))
        await takePart({ round: plan.rounds + round, contender }, ['single'])
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

type Manner = 'bulk' | 'single'

const roundsOfSinglesOnly = 10

/** BullMQ on Redis enqueues alike by default and tuned: its settings are about working. */
const isFarAway = (entry: Entry): boolean => isOutsider(entry) && entry.name !== 'bullmq-redis default'

/** Peers whose single enqueues each wait for the disk are stopped after a while and judged by what they had stored. */
function sizeOf({ settings }: Entry, manner: Manner, quick: boolean): { jobs: number; capMs: number } {
  if (manner === 'bulk') return { jobs: settings === 'default' || quick ? 20_000 : 50_000, capMs: 30_000 }
  return { jobs: quick ? 10_000 : 20_000, capMs: quick ? 1_000 : 2_000 }
}
