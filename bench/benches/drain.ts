/**
 * Drain: how many small jobs a second one worker process takes, runs and durably finishes, from a full queue.
 */
import type { Bench } from '../bench.ts'
import type { Entry } from '../contenders/roster.ts'
import { turns } from '../measure/rounds.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { proveApart, proveBooked, proveDurable, proveKeyed, proveSameStatements } from '../proof.ts'
import { fill } from './fill.ts'
import { isOutsider, isPeer } from './side.ts'

export const drainBench: Bench = {
  about: 'jobs a second that one worker process takes, runs and durably finishes, from a full queue',
  needsRedis: true,
  headline: { figure: 'jobsPerSecond', unit: 'jobs/s' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const tally = new Tally()
    for (const { round, contender } of turns(ground.entries, plan, isOutsider)) {
      const { jobs, capMs } = size(contender, quick)
      const place = await ground.preparedPlace(contender.name)
      await fill(contender.name, place, jobs)
      if (contender.side !== 'peer') await proveKeyed(place.database, jobs)
      const { slices: _, ...figures } = await startChild('drain', { contender: contender.name, place, jobs, capMs }).result
      proveApart('the worker', [figures.pid])
      if (contender.side !== 'peer') await proveBooked(place.database, jobs)
      if (contender.side === 'ours') await proveSameStatements(ground, place.database, 'drain')
      await place.drop()
      tally.add(contender.name, figures.jobsPerSecond)
      report({ round, contender: contender.name, figures: { jobs, ...figures } })
    }
    const ours = tally.median('sluice tuned')
    const bestPeer = tally.best(isPeer(ground), 'more')
    return {
      ratioToBestPeer: bestPeer ? ours / bestPeer.value : null,
      ratioToFloor: ours / tally.median('floor'),
      bestPeer: bestPeer?.name ?? null,
      jobsPerSecond: tally.medians(),
      proof,
    }
  },
}

/** What is promised of 50,000 jobs is measured with them, quickly or not. Those that cannot drain that many in a few seconds get fewer, and are stopped after a while. */
function size({ settings, name, side }: Entry, quick: boolean): { jobs: number; capMs: number } {
  if (side !== 'peer') return { jobs: 50_000, capMs: 60_000 }
  if (settings === 'default') return { jobs: 5_000, capMs: 2_000 }
  if (name.startsWith('bullmq-redis')) return { jobs: quick ? 10_000 : 20_000, capMs: 5_000 }
  if (name.startsWith('bullmq-postgres')) return quick ? { jobs: 2_000, capMs: 1_000 } : { jobs: 5_000, capMs: 3_000 }
  return { jobs: 50_000, capMs: 15_000 }
}
