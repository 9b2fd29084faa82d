/**
 * Horizon: a drain while another session holds a snapshot open, so that no dead row can be removed, against one without.
 *
 * The speed of each tenth of the drain is printed: a queue that trips over its own dead rows gets slower from slice to slice.
 * `lastToFirst` compares the last three slices with the second to fourth; the first is left out because it warms up.
 */
import { Client } from 'pg'
import type { Bench } from '../bench.ts'
import type { FreshPlace, Ground } from '../ground.ts'
import { turns } from '../measure/rounds.ts'
import { mean } from '../measure/statistics.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { prove, proveApart, proveBooked, proveDurable, proveKeyed } from '../proof.ts'
import { fill } from './fill.ts'

const ours = 'sluice tuned'
const slices = 10

export const horizonBench: Bench = {
  about: 'jobs a second of a long drain while another session holds a snapshot open, against one without',
  needsRedis: false,
  headline: { figure: 'jobsPerSecond', unit: 'jobs/s' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const jobs = quick ? 60_000 : 300_000
    const rates = new Tally()
    const trends = new Tally()
    const source = await ground.preparedPlace(ours)
    await fill(ours, source, jobs)
    await proveKeyed(source.database, jobs)
    for (const { round, contender } of turns([{ name: 'free' }, { name: 'held' }], plan)) {
      const place = await ground.freshPlace(source.database)
      await place.settle()
      const letGo = contender.name === 'held' ? await holdSnapshot(ground, place) : async () => {}
      const figures = await startChild('drain', { contender: ours, place, jobs, capMs: 120_000, slices }).result
      await letGo()
      proveApart('the worker', [figures.pid])
      await proveBooked(place.database, jobs)
      await place.drop()
      const lastToFirst = mean(figures.slices.slice(-3)) / mean(figures.slices.slice(1, 4))
      rates.add(contender.name, figures.jobsPerSecond)
      trends.add(contender.name, lastToFirst)
      report({ round, contender: contender.name, figures: { jobs, ...figures, lastToFirst } })
    }
    await source.drop()
    return {
      ratioToFree: rates.median('held') / rates.median('free'),
      lastToFirst: trends.median('held'),
      jobsPerSecond: rates.medians(),
      proof,
    }
  },
}

async function holdSnapshot(ground: Ground, { databaseUrl }: FreshPlace): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('begin isolation level repeatable read')
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const holds = () =>
    ground.postgres.ask('select from pg_stat_activity where pid = $1 and backend_xmin is not null', [rows[0]?.pid])
  prove((await holds()).length === 1, 'the snapshot is held')
  return async () => {
    prove((await holds()).length === 1, 'the snapshot was held to the end')
    await client.query('rollback')
    await client.end()
  }
}
