/**
 * One of several Sluice workers that drain together, in a process of its own. Tells when its first handler started and, now and
 * then, how many have. Ends when it is told to.
 *
 * A run's plan and finalizer are in a pool of their own, so that the process that prepares a place can plan without draining. The finalizer
 * leaves a row.
 */
import { createEngine, defineRun, done, type Engine } from '@sluice/engine'
import { z } from 'zod'
import { noop } from '../contenders/sluice-kind.ts'
import { monotonicMs, pause } from '../measure/clock.ts'
import type { Line } from '../processes/line.ts'

export interface WorkInRunsInput {
  readonly databaseUrl: string
}

export interface Progress {
  readonly firstAtMs: number
  readonly started: number
}

const tellEveryMs = 10

export async function workInRuns(input: WorkInRunsInput, line: Line): Promise<{ pid: number }> {
  let [firstAtMs, started, told] = [0, 0, 0]
  const job = noop(() => {
    if (started === 0) firstAtMs = monotonicMs()
    started += 1
  })
  const engine = createEngine({
    database: input.databaseUrl,
    kinds: [job],
    runs: [runOf(job)],
    pools: { light: { core: 100, max: 100 }, plan: { core: 5, max: 5 } },
  })
  const timer = setInterval(() => {
    if (started > told) line.tell({ firstAtMs, started } satisfies Progress)
    told = started
  }, tellEveryMs)
  await engine.migrate()
  line.tell('ready')
  await line.told()
  await engine.start()
  await line.told()
  clearInterval(timer)
  await engine.stop()
  return { pid: process.pid }
}

type Noop = ReturnType<typeof noop>

const runOf = (job: Noop) =>
  defineRun('bench.run', {
    payload: z.object({ first: z.number(), jobs: z.number() }),
    pool: 'plan',
    plan: ({ payload: { first, jobs } }) => done({ next: Array.from({ length: jobs }, (_, at) => job({ n: first + at })) }),
    finalize: ({ run, payload }) =>
      done({
        write: (tx) =>
          tx.query('insert into bench_completion (run, total, succeeded) values ($1, $2, $3)', [
            run,
            payload.total,
            payload.succeeded,
          ]),
      }),
  })

/** All jobs wait; `runs` of zero enqueues the same jobs without a run. */
export async function prepareRuns(databaseUrl: string, jobs: number, runs: number): Promise<void> {
  const job = noop(() => {})
  const run = runOf(job)
  const engine = createEngine({ database: databaseUrl, kinds: [job], runs: [run], pools: { plan: { core: 5, max: 5 } } })
  if (runs > 0) await plan(engine, run, jobs, runs)
  else
    for (let first = 0; first < jobs; first += 5_000)
      await engine.enqueueMany(Array.from({ length: 5_000 }, (_, at) => job({ n: first + at })))
  await engine.stop()
}

async function plan(engine: Engine, run: ReturnType<typeof runOf>, jobs: number, runs: number): Promise<void> {
  await engine.start()
  const each = jobs / runs
  const started: number[] = []
  for (let at = 0; at < runs; at += 1)
    started.push((await engine.runs.start(run({ first: at * each, jobs: each }, { owner: `owner ${at}` }))).id)
  for (const id of started) while ((await engine.runs.find(id))?.state !== 'running') await pause(5)
}
