/**
 * graphile-worker 0.18. It deletes finished jobs, so it keeps no history: half the writes of a queue that does.
 *
 * Its logger writes two lines a job to the console, which is switched off for both settings.
 */
import type { Runner, WorkerUtils } from 'graphile-worker'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { Pool } from 'pg'
import type { Contender, Place, Session } from './contender.ts'

type Preset = GraphileConfig.WorkerOptions

const silent = new Logger(() => () => {})

function open(place: Place, settings: Preset): Session {
  const pool = new Pool({ connectionString: place.databaseUrl, max: settings.maxPoolSize ?? 10 })
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
    async unsettled() {
      const { rows } = await pool.query('select count(*)::int as count from graphile_worker._private_jobs')
      return rows[0].count
    },
    async allSettled() {
      const { rows } = await pool.query('select not exists (select from graphile_worker._private_jobs) as done')
      return rows[0].done
    },
    async close() {
      await producer?.release()
      await pool.end()
    },
  }
}

export const asDocumented: Contender = {
  bulk: { size: 5000, parallel: 1 },
  open: (place) => open(place, {}),
}

export const tuned: Contender = {
  bulk: { size: 5000, parallel: 1 },
  open: (place) =>
    open(place, {
      concurrentJobs: 100,
      maxPoolSize: 10,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    }),
}
