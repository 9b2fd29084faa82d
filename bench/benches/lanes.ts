/**
 * Lanes: what they cost, and whether they keep what they promise.
 *
 * Three drains are compared: a thousand open lanes, the same beside a hundred thousand jobs behind a thousand closed ones, and the
 * same jobs without lanes. Then the promises, each counted from outside: budgets by the server that gives them, the wait of a stranger in
 * claims, weights by what started, and what it takes to close or open a lane with a long backlog.
 */
import type { Bench, Setting } from '../bench.ts'
import type { FreshPlace, Ground } from '../ground.ts'
import { turns } from '../measure/rounds.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { proveApart, proveBooked, proveDurable, proveKeyed } from '../proof.ts'
import { fill } from './fill.ts'
import { budgets } from './lanes/budgets.ts'
import { parkBacklog, proveParked } from './lanes/closed-backlog.ts'
import { closing } from './lanes/closing.ts'
import { strangers } from './lanes/strangers.ts'
import { weights } from './lanes/weights.ts'

export const lanesBench: Bench = {
  about: 'jobs a second over a thousand lanes, beside closed ones and without lanes; and whether budgets, turns and weights hold',
  needsRedis: false,
  headline: { figure: 'jobsPerSecond', unit: 'jobs/s' },
  async run(setting) {
    const { ground, quick, report } = setting
    const proof = await proveDurable(ground)
    const rates = await compareDrains(setting)
    const measured = {
      budgets: await budgets(ground, quick),
      strangers: await strangers(ground, quick),
      weights: await weights(ground, quick),
      closing: await closing(ground, quick),
    }
    for (const [contender, figures] of Object.entries(measured)) report({ round: 1, contender, figures })
    return {
      closedBacklogRatio: rates.median('beside closed lanes') / rates.median('in lanes'),
      lanedToUnlaned: rates.median('in lanes') / rates.median('without lanes'),
      overdrawn: measured.budgets.overdrawn,
      unusedAtReset: measured.budgets.unusedAtReset,
      claimsBeforeStranger: measured.strangers.claimsBeforeStranger,
      weightError: measured.weights.weightError,
      closeMs: measured.closing.closeMs,
      jobsPerSecond: rates.medians(),
      proof,
    }
  },
}

interface Side {
  readonly name: string
  readonly contender: string
  readonly parked: number
  readonly source: FreshPlace
}

async function compareDrains({ ground, quick, plan, report }: Setting): Promise<Tally> {
  const jobs = 50_000
  const rates = new Tally()
  const sides = await sidesOf(ground)
  // The promises need their time too.
  const ending = { ...plan, endBeforeMs: plan.endBeforeMs - (quick ? 17_000 : 90_000) }
  for (const { round, contender: side } of turns(sides, ending)) {
    const place = await ground.freshPlace(side.source.database)
    await fill(side.contender, place, jobs)
    await proveKeyed(place.database, jobs)
    const { slices: _, ...figures } = await startChild('drain', { contender: side.contender, place, jobs, capMs: 60_000 }).result
    proveApart('the worker', [figures.pid])
    await proveBooked(place.database, jobs)
    await proveParked(place, side.parked)
    await place.drop()
    rates.add(side.name, figures.jobsPerSecond)
    report({ round, contender: side.name, figures: { jobs, parked: side.parked, ...figures } })
  }
  return rates
}

async function sidesOf(ground: Ground): Promise<Side[]> {
  const [inLanes, unlaned] = ['sluice in lanes', 'sluice tuned']
  const parked = 100_000
  const closed = await ground.preparedPlace(inLanes)
  await parkBacklog(closed, parked)
  return [
    { name: 'in lanes', contender: inLanes, parked: 0, source: await ground.preparedPlace(inLanes) },
    { name: 'beside closed lanes', contender: inLanes, parked, source: closed },
    { name: 'without lanes', contender: unlaned, parked: 0, source: await ground.preparedPlace(unlaned) },
  ]
}
