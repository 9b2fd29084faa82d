/**
 * History: does a drain care that a million jobs are finished and a million are still to come?
 *
 * The full place is built once and copied for each round, and so is the empty one, so that every round starts from the same
 * tables and both sorts of place came about in the same way.
 */
import type { Bench } from '../bench.ts'
import type { FreshPlace, Ground } from '../ground.ts'
import { turns } from '../measure/rounds.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { prove, proveApart, proveBooked, proveDurable, proveKeyed } from '../proof.ts'
import { within } from '../servers/postgres.ts'
import { fill } from './fill.ts'
import { finishedJobs } from './finished-jobs.ts'
import { futureJobs } from './future-jobs.ts'

const ours = 'sluice tuned'

export const historyBench: Bench = {
  about: 'jobs a second of a drain with a million finished and a million future jobs around, against empty tables',
  needsRedis: false,
  headline: { figure: 'jobsPerSecond', unit: 'jobs/s' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const rows = quick ? 200_000 : 1_000_000
    const jobs = 50_000
    const tally = new Tally()
    const sources = [
      { name: 'empty', rows: 0, place: await build(ground, 0) },
      { name: 'full', rows, place: await build(ground, rows) },
    ]
    for (const { round, contender: source } of turns(sources, plan)) {
      const place = await ground.freshPlace(source.place.database)
      await fill(ours, place, jobs)
      await proveKeyed(place.database, jobs)
      const { slices: _, ...figures } = await startChild('drain', { contender: ours, place, jobs, capMs: 60_000 }).result
      proveApart('the worker', [figures.pid])
      await proveBooked(place.database, jobs)
      await proveSurrounded(place, source.rows)
      await place.drop()
      tally.add(source.name, figures.jobsPerSecond)
      report({ round, contender: source.name, figures: { finishedRows: source.rows, futureRows: source.rows, jobs, ...figures } })
    }
    return { ratioToEmpty: tally.median('full') / tally.median('empty'), jobsPerSecond: tally.medians(), rows, proof }
  },
}

async function build(ground: Ground, rows: number): Promise<FreshPlace> {
  const place = await ground.preparedPlace(ours)
  if (rows === 0) return place
  console.error(`bench: building a place with ${rows} finished and ${rows} future jobs`)
  await within(place.databaseUrl, async (client) => {
    await client.query(finishedJobs, [rows])
    await client.query(futureJobs, [rows])
    await client.query('vacuum analyze')
  })
  await place.settle()
  return place
}

async function proveSurrounded({ databaseUrl }: FreshPlace, rows: number): Promise<void> {
  const around = await within(databaseUrl, async (client) => {
    const { rows: counts } = await client.query<{ past: number; future: number }>(
      `select (select count(*)::int from sluice.job_ledger where kind = 'bench.past') as past,
              (select count(*)::int from sluice.job where shelf = 'scheduled') as future`,
    )
    return counts[0]
  })
  prove(around?.past === rows && around.future === rows, `${rows} finished and ${rows} future jobs are still there`)
}
