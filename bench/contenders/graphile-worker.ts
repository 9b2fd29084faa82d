/**
 * graphile-worker 0.18. It deletes finished jobs, so it keeps no history: half the writes of a queue that does.
 *
 * Its logger writes two lines a job to the console, which is switched off for both settings.
 *
 * Tuned means its local queue and batched completion, as its own page on performance advises. Tried for drain, on two cores:
 * 1, 4, 10, 24, 100 and 200 concurrent jobs (no clear difference; 24 is what its own measurements use), completion delays of
 * 0, 2, 5 and 20 ms (no difference), local queues of 100 to 10,000 jobs. Up to 1,000 jobs in hand, the limit for everyone here,
 * 1,000 is the best; 500 is slower than 300, because from there on the planner joins the completed ids by a scan of the table.
 * A larger local queue goes on winning (2,000: a quarter more, 10,000: half more), at the price of one process holding that
 * many jobs, for four hours if it dies. Pools of 5, 10, 20, 32 and 64 connections for single enqueues: 10 is the best. Two
 * bulk calls of 5,000 jobs at once are the best. Delayed jobs are found by polling, so tuned polls as often as pg-boss can.
 */
import type { Runner, WorkerUtils } from 'graphile-worker'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { Pool } from 'pg'
import type { Contender, Place, Session } from './contender.ts'
import { observe } from './observer.ts'

type Preset = GraphileConfig.WorkerOptions

const silent = new Logger(() => () => {})

function open(place: Place, settings: Preset): Session {
  const pool = new Pool({ connectionString: place.databaseUrl, max: settings.maxPoolSize ?? 10 })
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', () => {})) // it insists on both
  const observer = observe(place.databaseUrl)
  let producer: WorkerUtils | undefined
  const utils = async () => (producer ??= await makeWorkerUtils({ pgPool: pool, preset: { worker: { logger: silent } } }))
  return {
    async prepare() {
      await (await utils()).migrate()
    },
    async connect() {
      await utils()
    },
    async enqueueBulk(numbers) {
      await (await utils()).addJobs(numbers.map((n) => ({ identifier: 'noop', payload: { n } })))
    },
    async enqueueOne(n) {
      await (await utils()).addJob('noop', { n })
    },
    async enqueueAt(n, due) {
      await (await utils()).addJob('noop', { n }, { runAt: due })
    },
    async work(onJob) {
      const runner: Runner = await run({
        taskList: { noop: (payload) => onJob((payload as { n: number }).n) },
        parsedCronItems: [],
        noHandleSignals: true,
        preset: { worker: { connectionString: place.databaseUrl, logger: silent, ...settings } },
      })
      return () => runner.stop()
    },
    unsettled: () => observer.count('graphile_worker._private_jobs'),
    allSettled: () => observer.none('graphile_worker._private_jobs'),
    async close() {
      await producer?.release()
      await pool.end()
      await observer.close()
    },
  }
}

export const asDocumented: Contender = {
  bulk: { size: 5000, parallel: 1 },
  open: (place) => open(place, {}),
}

export const tuned: Contender = {
  bulk: { size: 5000, parallel: 2 },
  open: (place) =>
    open(place, {
      concurrentJobs: 24,
      maxPoolSize: 10,
      pollInterval: 500,
      localQueue: { size: 1000 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    }),
}
