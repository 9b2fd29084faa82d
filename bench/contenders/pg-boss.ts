/**
 * pg-boss 12.35. Finished jobs stay in the table as `completed`; nothing is pruned within the time of a bench.
 *
 * By default it takes one job every two seconds. Tuned means batched fetches that follow each other without a pause, wake-ups
 * by NOTIFY, and for delayed jobs, which nobody is told of, the shortest polling it allows. Tried for drain: batches of 100,
 * 250, 500, 1,000, 2,000 and 5,000 jobs by 1, 2 and 4 local workers. With up to 1,000 jobs in hand, the limit for everyone
 * here, 4 workers with 250 each are the best; 4 with 2,000 each are faster still. Single enqueues are faster without NOTIFY, so
 * the default wins there; pools of 5 to 64 connections differ little. Two bulk calls at once beat one.
 */
import type { WorkOptions } from 'pg-boss'
import { PgBoss } from 'pg-boss'
import type { Contender, Place, Session } from './contender.ts'
import { observe } from './observer.ts'

const queue = 'noop'

interface Settings {
  readonly work: WorkOptions
  readonly notify: boolean
  readonly poolSize: number
}

function open(place: Place, settings: Settings): Session {
  const boss = new PgBoss({ connectionString: place.databaseUrl, max: settings.poolSize, useListenNotify: settings.notify })
  const observer = observe(place.databaseUrl)
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
    unsettled: () => observer.count(`pgboss.job where name = '${queue}' and state < 'completed'`),
    allSettled: () => observer.none(`pgboss.job where name = '${queue}' and state < 'completed'`),
    async close() {
      if (started) await boss.stop({ graceful: false })
      await observer.close()
    },
  }
}

export const asDocumented: Contender = {
  bulk: { size: 5000, parallel: 1 },
  open: (place) => open(place, { work: {}, notify: false, poolSize: 10 }),
}

export const tuned: Contender = {
  bulk: { size: 5000, parallel: 2 },
  open: (place) =>
    open(place, {
      work: {
        batchSize: 250,
        localConcurrency: 4,
        burstWhenBatchFull: true,
        pollingIntervalSeconds: 0.5,
        notifyPollingIntervalSeconds: 0.5,
      },
      notify: true,
      poolSize: 10,
    }),
}
