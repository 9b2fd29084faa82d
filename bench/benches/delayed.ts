/**
 * Delayed: how much later than a timer of the same process a delayed job starts.
 */
import type { Bench } from '../bench.ts'
import { turns } from '../measure/rounds.ts'
import { quantile } from '../measure/statistics.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { prove, proveApart, proveBooked, proveDurable } from '../proof.ts'

export const delayedBench: Bench = {
  about: 'how much later than a timer of the same process a delayed job starts (95 of 100 are better)',
  needsRedis: true,
  headline: { figure: 'p95LatenessMs', unit: 'ms' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const tally = new Tally()
    const size = quick
      ? { jobs: 100, spreadMs: 500, delayMs: [500, 1_500] as const, patienceMs: 1_000 }
      : { jobs: 200, spreadMs: 1_000, delayMs: [500, 3_000] as const, patienceMs: 2_500 }
    for (const { round, contender } of turns(
      ground.entries.filter(({ side }) => side !== 'floor'),
      plan,
      ({ side }) => side === 'peer',
    )) {
      const place = await ground.preparedPlace(contender.name)
      await place.settle()
      const { latenessMs, timerLatenessMs, unstarted, pid } = await startChild('delayed', {
        contender: contender.name,
        place,
        ...size,
      }).result
      prove(timerLatenessMs.length === size.jobs, 'there was a timer for every job')
      proveApart('the worker and its timers', [pid])
      if (contender.side === 'ours') await proveBooked(place.database, size.jobs)
      await place.drop()
      const jobP95Ms = quantile(latenessMs, 0.95)
      const timerP95Ms = quantile(timerLatenessMs, 0.95)
      const figures = {
        p95LatenessMs: Math.max(0, jobP95Ms - timerP95Ms),
        jobP50Ms: quantile(latenessMs, 0.5),
        jobP95Ms,
        timerP95Ms,
        earliestMs: Math.min(...latenessMs),
        jobs: size.jobs,
        unstarted,
        pid,
      }
      if (contender.side === 'ours')
        prove(unstarted === 0 && figures.earliestMs >= 0, 'every job starts, and none before its time')
      tally.add(contender.name, figures.p95LatenessMs)
      report({ round, contender: contender.name, figures })
    }
    return { p95LatenessMs: tally.median('sluice tuned'), p95LatenessMsByContender: tally.medians(), proof }
  },
}
