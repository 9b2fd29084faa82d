/**
 * Dispatch: PostgreSQL alone against Redis in front of it, with one, four and sixteen worker processes on one machine, and BullMQ on the same Redis.
 *
 * Drain is what all processes together take, run and durably finish; latency is from the call of enqueue to the start of the handler on an idle worker. What
 * Redis must not do is counted by the guarantees (overdrawn budgets, ids that go round) and, for an idle worker, here.
 */
import { Redis as Client } from 'ioredis'
import type { Bench } from '../bench.ts'
import { contenderNamed } from '../contenders/roster.ts'
import { monotonicMs, pause } from '../measure/clock.ts'
import { turns } from '../measure/rounds.ts'
import { quantile } from '../measure/statistics.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { proveDurable } from '../proof.ts'
import { fill } from './fill.ts'

const names = ['sluice tuned', 'sluice on redis', 'bullmq-redis tuned'] as const
const askEveryMs = 5
const idleMs = 15_000

export const dispatchBench: Bench = {
  about: 'jobs a second that 1, 4 and 16 worker processes drain together: dispatched by PostgreSQL, by Redis, and BullMQ',
  needsRedis: true,
  headline: { figure: 'jobsPerSecond', unit: 'jobs/s' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const drains = new Tally()
    const p50 = new Tally()
    const cases = names.flatMap((name) => [1, 4, 16].map((processes) => ({ name, processes })))
    for (const { round, contender } of turns(cases, plan)) {
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
      const { latenciesMs } = await startChild('sendSamples', { contender, place, ...size }).result
      await place.drop()
      p50.add(contender, quantile(latenciesMs, 0.5))
      report({ round, contender: `${contender} latency`, figures: { jobsPerSecond: 0, p50Ms: quantile(latenciesMs, 0.5) } })
    }
    const idleCommandsPerMinute = await countIdle()
    const ratio = (one: string, other: string): number => drains.median(one) / drains.median(other)
    return {
      redisToPostgresDrain1: ratio('sluice on redis x1', 'sluice tuned x1'),
      redisToPostgresDrain4: ratio('sluice on redis x4', 'sluice tuned x4'),
      redisToPostgresDrain16: ratio('sluice on redis x16', 'sluice tuned x16'),
      ratioToBullmq: ratio('sluice on redis x4', 'bullmq-redis tuned x4'),
      idleCommandsPerMinute,
      jobsPerSecond: drains.medians(),
      p50Ms: p50.medians(),
      proof,
    }

    /** Commands that an idle worker of one pool sends to Redis. */
    async function countIdle(): Promise<number> {
      const name = 'sluice on redis'
      const place = await ground.preparedPlace(name)
      const { promise: ready, resolve } = Promise.withResolvers<void>()
      const worker = startChild('workAlong', { contender: name, place }, () => resolve())
      await ready
      worker.tell('begin')
      await pause(5_000)
      const client = new Client({ path: place.redisSocket ?? '' })
      await client.config('RESETSTAT')
      await pause(idleMs)
      const told = await client.info('commandstats')
      client.disconnect()
      worker.tell('end')
      await worker.result
      await place.drop()
      const sent = [...told.matchAll(/cmdstat_(xreadgroup|evalsha|publish|set|del):calls=(\d+)/g)]
      return sent.reduce((sum, [, , calls]) => sum + Number(calls), 0) * (60_000 / idleMs)
    }

    async function drainTogether(name: string, processes: number, jobs: number): Promise<number> {
      const place = await ground.preparedPlace(name)
      await fill(name, place, jobs)
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
      await place.drop()
      const started = results.reduce((sum, one) => sum + one.started, 0)
      if (started !== jobs) throw new Error(`${name}: ${started} handlers started for ${jobs} jobs`)
      return jobs / ((endMs - Math.min(...results.map(({ firstAtMs }) => firstAtMs))) / 1000)
    }
  },
}
