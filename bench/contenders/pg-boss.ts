/**
 * pg-boss 12.35. Finished jobs stay in the table as `completed`, as here nothing is pruned within the time of a bench.
 */
import { Pool } from 'pg'
import type { WorkOptions } from 'pg-boss'
import { PgBoss } from 'pg-boss'
import type { Contender, Place, Session } from './contender.ts'

const queue = 'noop'

interface Settings {
  readonly work: WorkOptions
  readonly notify: boolean
  readonly poolSize: number
}

function open(place: Place, settings: Settings): Session {
  const boss = new PgBoss({ connectionString: place.databaseUrl, max: settings.poolSize, useListenNotify: settings.notify })
  const observer = new Pool({ connectionString: place.databaseUrl, max: 1 })
  boss.on('error', (error) => console.error(error))
  let started: Promise<unknown> | undefined
  const start = () => (started ??= boss.start())
  return {
    async prepare() {
      await start()
      await boss.createQueue(queue, { notify: settings.notify })
    },
    async connect() {
      await start()
      await boss.getQueue(queue)
    },
    async enqueueBulk(numbers) {
      await boss.insert(
        queue,
        numbers.map((n) => ({ data: { n } })),
      )
    },
    async enqueueOne(n) {
      await boss.send(queue, { n })
    },
    async enqueueAt(n, due) {
      await boss.send(queue, { n }, { startAfter: due })
    },
    async work(onJob) {
      await start()
      await boss.work<{ n: number }>(queue, settings.work, async (jobs) => {
        for (const job of jobs) onJob(job.data.n)
      })
      return () => boss.offWork(queue, { wait: true })
    },
    async unsettled() {
      const { rows } = await observer.query(
        `select count(*)::int as count from pgboss.job where name = $1 and state < 'completed'`,
        [queue],
      )
      return rows[0].count
    },
    async allSettled() {
      const { rows } = await observer.query(
        `select not exists (select from pgboss.job where name = $1 and state < 'completed') as done`,
        [queue],
      )
      return rows[0].done
    },
    async close() {
      if (started) await boss.stop({ graceful: false })
      await observer.end()
    },
  }
}

export const asDocumented: Contender = {
  bulk: { size: 5000, parallel: 1 },
  open: (place) => open(place, { work: {}, notify: false, poolSize: 10 }),
}

export const tuned: Contender = {
  bulk: { size: 5000, parallel: 1 },
  open: (place) =>
    open(place, {
      work: { batchSize: 500, localConcurrency: 2, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
      notify: true,
      poolSize: 10,
    }),
}
