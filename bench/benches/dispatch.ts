/**
 * Dispatch: PostgreSQL alone against Redis in front of it, with one, four and sixteen worker processes on one machine, and BullMQ on the same Redis.
 *
 * Drain is what all processes together take, run and durably finish; latency is from the call of enqueue to the start of the handler on an idle worker. Then
 * what Redis must not do, counted from outside: overdraw a budget, let ids of a closed lane go round, and ask while there is nothing to do.
 */
import type { Bench } from '../bench.ts'
import { contenderNamed } from '../contenders/roster.ts'
import { monotonicMs, pause } from '../measure/clock.ts'
import { turns } from '../measure/rounds.ts'
import { quantile } from '../measure/statistics.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { proveApart, proveBooked, proveDurable, proveKeyed } from '../proof.ts'
import { circles } from './dispatch/circles.ts'
import { idleCommands } from './dispatch/idle-commands.ts'
import { fill } from './fill.ts'
import { budgets } from './lanes/budgets.ts'

const names = ['sluice tuned', 'sluice on redis', 'bullmq-redis tuned'] as const
const isOurs = (name: string): boolean => name.startsWith('sluice')
const askEveryMs = 5
/** On one lane, from eight processes. */
const oneLane = { tenants: 1, limit: 200, workers: 8, by: 'redis' as const }

export const dispatchBench: Bench = {
  about: 'jobs a second that 1, 4 and 16 worker processes drain together: dispatched by PostgreSQL, by Redis, and BullMQ',
  needsRedis: true,
  headline: { figure: 'jobsPerSecond', unit: 'jobs/s' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const drains = new Tally()
    const p50 = new Tally()
    const cases = names.flatMap((name) => [1, 4, 16].map((processes) => ({ name, processes })))
    // A round takes longer than elsewhere: three sizes of three contenders.
    const longer = { ...plan, endBeforeMs: plan.endBeforeMs + (quick ? 0 : 90_000) }
    for (const { round, contender } of turns(cases, longer)) {
      const { name, processes } = contender
      const jobs = quick ? 10_000 : 40_000
      const jobsPerSecond = await drainTogether(name, processes, jobs)
      drains.add(`${name} x${processes}`, jobsPerSecond)
      report({ round, contender: `${name} x${processes}`, figures: { jobs, jobsPerSecond } })
    }
    for (const { round, contender } of turns(names, plan)) {
      const place = await ground.preparedPlace(contender)
      await place.settle()
      const size = { samples: quick ? 40 : 100, warmUp: 5, capMs: 5_000 }
      const { latenciesMs, sent, pid, workerPid } = await startChild('sendSamples', { contender, place, ...size }).result
      proveApart('enqueue and handler', [pid, workerPid])
      if (isOurs(contender)) await proveBooked(place.database, sent)
      await place.drop()
      p50.add(contender, quantile(latenciesMs, 0.5))
      report({ round, contender: `${contender} latency`, figures: { p50Ms: quantile(latenciesMs, 0.5) } })
    }
    const budget = await budgets(ground, quick, oneLane)
    const circling = await circles(ground, quick)
    const idle = await idleCommands(ground, quick)
    const watched = {
      'sluice on redis, one lane': budget,
      'sluice on redis, closed lane': circling,
      'sluice on redis, idle': idle,
    }
    for (const [contender, figures] of Object.entries(watched)) report({ round: 1, contender, figures })
    const ratio = (one: string, other: string): number => drains.median(one) / drains.median(other)
    return {
      redisToPostgresDrain1: ratio('sluice on redis x1', 'sluice tuned x1'),
      redisToPostgresDrain4: ratio('sluice on redis x4', 'sluice tuned x4'),
      redisToPostgresDrain16: ratio('sluice on redis x16', 'sluice tuned x16'),
      ratioToBullmq: ratio('sluice on redis x4', 'bullmq-redis tuned x4'),
      overdrawn: budget.overdrawn,
      circles: circling.circles,
      idleCommandsPerMinute: idle.idleCommandsPerMinute,
      jobsPerSecond: drains.medians(),
      p50Ms: p50.medians(),
      proof,
    }

    async function drainTogether(name: string, processes: number, jobs: number): Promise<number> {
      const place = await ground.preparedPlace(name)
      await fill(name, place, jobs)
      if (isOurs(name)) await proveKeyed(place.database, jobs)
      let waiting = processes
      const { promise: ready, resolve } = Promise.withResolvers<void>()
      const workers = Array.from({ length: processes }, () =>
        startChild('workAlong', { contender: name, place }, () => {
          waiting -= 1
          if (waiting === 0) resolve()
        }),
      )
      await ready
      const session = (await contenderNamed(name)).open(place)
      await session.connect()
      for (const worker of workers) worker.tell('begin')
      while (!(await session.allSettled())) await pause(askEveryMs)
      const endMs = monotonicMs()
      await session.close()
      for (const worker of workers) worker.tell('end')
      const results = await Promise.all(workers.map(({ result }) => result))
      const pids = results.map(({ pid }) => pid)
      proveApart('the workers', pids)
      if (isOurs(name)) await proveBooked(place.database, jobs)
      await place.drop()
      const started = results.reduce((sum, one) => sum + one.started, 0)
      if (started !== jobs) throw new Error(`${name}: ${started} handlers started for ${jobs} jobs`)
      return jobs / ((endMs - Math.min(...results.map(({ firstAtMs }) => firstAtMs))) / 1000)
    }
  },
}
