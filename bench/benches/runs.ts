/**
 * Runs: what it costs that jobs are counted. Fifty runs of a thousand jobs with one worker process, and one run of fifty thousand with four, where
 * every settle of every process needs the same row; each against the same jobs without runs.
 *
 * All jobs are planned before the clock starts, by a process that serves the plans' pool only. The clock runs from the start of the first handler until the store says that none is left. Each run must complete once: its finalizer
 * leaves a row in a table that would take doubles.
 */
import type { Bench } from '../bench.ts'
import type { FreshPlace } from '../ground.ts'
import { monotonicMs, pause } from '../measure/clock.ts'
import { turns } from '../measure/rounds.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { prove, proveApart, proveBooked, proveDurable, proveKeyed } from '../proof.ts'
import { type Progress, prepareRuns } from '../roles/work-in-runs.ts'
import { within } from '../servers/postgres.ts'

const sides = [
  { name: 'many runs', runs: 50, workers: 1 },
  { name: 'one worker, no runs', runs: 0, workers: 1 },
  { name: 'one run', runs: 1, workers: 4 },
  { name: 'four workers, no runs', runs: 0, workers: 4 },
]
const askEveryMs = 5
const capMs = 60_000

export const runsBench: Bench = {
  about: 'jobs a second in fifty runs and in one, against the same jobs without runs; and whether each run completes once',
  needsRedis: false,
  headline: { figure: 'jobsPerSecond', unit: 'jobs/s' },
  async run({ ground, plan, report }) {
    const proof = await proveDurable(ground)
    const jobs = 50_000
    const rates = new Tally()
    const completions = { seen: 0, wanted: 0 }
    const sources = new Map<number, FreshPlace>()
    for (const { runs } of sides) if (!sources.has(runs)) sources.set(runs, await build(await ground.freshPlace(), jobs, runs))
    for (const { round, contender: side } of turns(sides, plan)) {
      const place = await ground.freshPlace(sources.get(side.runs)?.database)
      await place.settle()
      await proveKeyed(place.database, jobs)
      const { seconds, pids } = await drainTogether(place, side.workers, jobs)
      const completed = await completionsOf(place, side.runs, jobs)
      await proveBooked(place.database, jobs)
      proveApart('the workers', pids)
      await place.drop()
      completions.seen += completed
      completions.wanted += side.runs
      rates.add(side.name, jobs / seconds)
      report({
        round,
        contender: side.name,
        figures: { jobs, runs: side.runs, workers: side.workers, seconds, jobsPerSecond: jobs / seconds, completed, pids },
      })
    }
    prove(completions.seen === completions.wanted, `each run completed once (${completions.seen} of ${completions.wanted})`)
    return {
      manyRunsRatio: rates.median('many runs') / rates.median('one worker, no runs'),
      oneRunRatio: rates.median('one run') / rates.median('four workers, no runs'),
      completions: completions.seen,
      runs: completions.wanted,
      jobsPerSecond: rates.medians(),
      proof,
    }
  },
}

async function build(place: FreshPlace, jobs: number, runs: number): Promise<FreshPlace> {
  await prepareRuns(place.databaseUrl, jobs, runs)
  await within(place.databaseUrl, async (client) => {
    await client.query('create table bench_completion (run bigint not null, total integer not null, succeeded integer not null)')
    await client.query('vacuum analyze')
  })
  return place
}

async function drainTogether(
  { databaseUrl }: FreshPlace,
  workers: number,
  jobs: number,
): Promise<{ seconds: number; pids: number[] }> {
  const progress = new Map<number, Progress>()
  const started = Promise.withResolvers<void>()
  const children = await Promise.all(
    Array.from({ length: workers }, async (_, at) => {
      const ready = Promise.withResolvers<void>()
      const child = startChild('workInRuns', { databaseUrl }, (message) => {
        if (message === 'ready') return ready.resolve()
        progress.set(at, message as Progress)
        const sum = [...progress.values()].reduce((total, one) => total + one.started, 0)
        if (sum >= jobs) started.resolve()
      })
      await Promise.race([ready.promise, child.result])
      return child
    }),
  )
  for (const child of children) child.tell('go')
  await Promise.race([started.promise, pause(capMs), ...children.map(({ result }) => result)])
  const endedAtMs = await within(databaseUrl, async (client) => {
    const endAtMs = monotonicMs() + capMs
    await client.query('set enable_seqscan = off')
    const left = async () => (await client.query(`select from sluice.queued where pool = any('{light,plan}') limit 1`)).rowCount
    while ((await left()) !== 0 && monotonicMs() < endAtMs) await pause(askEveryMs)
    return monotonicMs()
  })
  for (const child of children) child.tell('stop')
  const ended = await Promise.all(children.map(({ result }) => result))
  const firstAtMs = Math.min(...[...progress.values()].map((one) => one.firstAtMs))
  return { seconds: (endedAtMs - firstAtMs) / 1000, pids: ended.map(({ pid }) => pid) }
}

/** Finalizers are jobs as well: the drain is over when they have left their rows. */
async function completionsOf({ databaseUrl }: FreshPlace, runs: number, jobs: number): Promise<number> {
  return within(databaseUrl, async (client) => {
    const { rows } = await client.query<{ completions: number; distinct: number; completed: number; whole: number }>(
      `select count(*)::int as completions, count(distinct run)::int as distinct, coalesce(sum(succeeded - 1), 0)::int as whole,
              (select count(*)::int from sluice.run where state = 'completed' and pending = 0) as completed
       from bench_completion`,
    )
    const { completions = 0, distinct, completed, whole } = rows[0] ?? {}
    prove(
      distinct === runs && completed === runs && whole === (runs > 0 ? jobs : 0),
      `all ${runs} runs are whole (${JSON.stringify(rows[0])})`,
    )
    return completions
  })
}
