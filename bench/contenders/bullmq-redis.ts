/**
 * BullMQ 6.7 on Redis with the durability that Redis has out of the box: snapshots now and then, no append-only file.
 *
 * Tuned means concurrency 100; 50, 200, 400 and 500 do not differ beyond the noise, 1 and 10 are slower. Bulk calls of 1,000 jobs
 * beat 5,000, and two at once do not beat one.
 */
import { Queue, Worker } from 'bullmq'
import type { Contender, Place, Session } from './contender.ts'

const name = 'noop'

interface Settings {
  readonly concurrency: number
}

function open(place: Place, settings: Settings): Session {
  if (place.redisSocket === null) throw new Error('BullMQ on Redis was asked to run, but there is no redis-server')
  const connection = { path: place.redisSocket, maxRetriesPerRequest: null }
  let producer: Queue<{ n: number }> | undefined
  const queue = () => (producer ??= new Queue<{ n: number }>(name, { connection }))
  const unsettled = () => queue().getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized')
  return {
    async prepare() {
      await queue().waitUntilReady()
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
    unsettled,
    async allSettled() {
      return (await unsettled()) === 0
    },
    async close() {
      await producer?.close()
    },
  }
}

export const asDocumented: Contender = {
  bulk: { size: 1000, parallel: 1 },
  open: (place) => open(place, { concurrency: 1 }),
}

export const tuned: Contender = {
  bulk: { size: 1000, parallel: 1 },
  open: (place) => open(place, { concurrency: 100 }),
}
