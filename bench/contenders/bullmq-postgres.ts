/**
 * BullMQ 6.7 on its own PostgreSQL backend. It takes one job a call; completing a job and taking the next are one call.
 *
 * Tuned means concurrency 16 with as many connections. Tried: 1, 4, 8, 16, 32 and 100; 8 to 32 are equal, the rest slower, and all
 * of them wait for the disk at each job. Two bulk calls of 5,000 at once beat one, and beat 1,000.
 */
import { createPostgresBackend, runMigrations, withBackend } from 'bullmq'
import type { Contender, Place, Session } from './contender.ts'
import { observe } from './observer.ts'

const name = 'noop'
const { Queue, Worker } = withBackend(createPostgresBackend)

interface Settings {
  readonly concurrency: number
  readonly poolSize: number
}

function open(place: Place, settings: Settings): Session {
  const connection = { connectionString: place.databaseUrl, max: settings.poolSize }
  const observer = observe(place.databaseUrl)
  const open = () => new Queue<{ n: number }>(name, { connection })
  let producer: ReturnType<typeof open> | undefined
  const queue = () => (producer ??= open())
  return {
    async prepare() {
      const client = await observer.pool.connect()
      await runMigrations(client)
      client.release()
    },
    async connect() {
      await queue().waitUntilReady()
    },
    async enqueueBulk(numbers) {
      await queue().addBulk(numbers.map((n) => ({ name, data: { n } })))
    },
    async enqueueOne(n) {
      await queue().add(name, { n })
    },
    async enqueueAt(n, due) {
      await queue().add(name, { n }, { delay: Math.max(0, due.getTime() - Date.now()) })
    },
    async work(onJob) {
      const worker = new Worker<{ n: number }>(name, async (job) => onJob(job.data.n), {
        connection,
        concurrency: settings.concurrency,
      })
      await worker.waitUntilReady()
      return () => worker.close()
    },
    unsettled: () => observer.count(`bullmq.job where state not in ('completed', 'failed')`),
    allSettled: () => observer.none(`bullmq.job where state = 'waiting'`, `bullmq.job where state = 'active'`),
    async close() {
      await producer?.close()
      await observer.close()
    },
  }
}

export const asDocumented: Contender = {
  bulk: { size: 1000, parallel: 1 },
  open: (place) => open(place, { concurrency: 1, poolSize: 10 }),
}

export const tuned: Contender = {
  bulk: { size: 5000, parallel: 2 },
  open: (place) => open(place, { concurrency: 16, poolSize: 16 }),
}
