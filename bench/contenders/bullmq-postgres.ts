/**
 * BullMQ 6.7 on its own PostgreSQL backend. It takes one job a call; completing a job and taking the next are one call.
 */
import { createPostgresBackend, runMigrations, withBackend } from 'bullmq'
import { Pool } from 'pg'
import type { Contender, Place, Session } from './contender.ts'

const name = 'noop'
const { Queue, Worker } = withBackend(createPostgresBackend)

interface Settings {
  readonly concurrency: number
  readonly poolSize: number
}

function open(place: Place, settings: Settings): Session {
  const connection = { connectionString: place.databaseUrl, max: settings.poolSize }
  const observer = new Pool({ connectionString: place.databaseUrl, max: 1 })
  const open = () => new Queue<{ n: number }>(name, { connection })
  let producer: ReturnType<typeof open> | undefined
  const queue = () => (producer ??= open())
  return {
    async prepare() {
      const client = await observer.connect()
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
    async unsettled() {
      const { rows } = await observer.query(
        `select count(*)::int as count from bullmq.job where state not in ('completed', 'failed')`,
      )
      return rows[0].count
    },
    async allSettled() {
      const { rows } = await observer.query(
        `select not exists (select from bullmq.job where state in ('waiting', 'active', 'delayed', 'waiting-children')) as done`,
      )
      return rows[0].done
    },
    async close() {
      await producer?.close()
      await observer.end()
    },
  }
}

export const asDocumented: Contender = {
  bulk: { size: 1000, parallel: 1 },
  open: (place) => open(place, { concurrency: 1, poolSize: 10 }),
}

export const tuned: Contender = {
  bulk: { size: 5000, parallel: 1 },
  open: (place) => open(place, { concurrency: 16, poolSize: 16 }),
}
