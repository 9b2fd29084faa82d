/**
 * Sluice itself, with everything on: ledger, dedupe keys, fences, heartbeat, wake-ups.
 *
 * `tuned` gives the pool the hundred slots that the tuned peers have; nothing else is set in either case.
 */
import { createEngine, type EngineOptions } from '@sluice/engine'
import type { Contender, Place, Session } from './contender.ts'
import { observe } from './observer.ts'
import { noop } from './sluice-kind.ts'

/** By the numbers of their queues, so that what is scheduled or parked behind closed lanes is not walked over: with a million of those a question took half a second. */
const openJobs = `sluice.queued where sluice.queue_of(pool, lane) = sluice.queue_of('light', '')`
const jobsInLanes = `sluice.queued
  where sluice.queue_of(pool, lane) = any(array(select sluice.queue_of('light', 'open:' || n) from generate_series(0, 999) as n))`

function open(place: Place, options: Pick<EngineOptions, 'pools' | 'redis'>, laneOf?: (n: number) => string): Session {
  let onJob: (n: number) => void = () => {}
  const kind = noop((n) => onJob(n))
  const request = (n: number) => (laneOf ? kind({ n }, { lane: laneOf(n) }) : kind({ n }))
  const engine = createEngine({ database: place.databaseUrl, kinds: [kind], ...options })
  const observer = observe(place.databaseUrl)
  return {
    prepare: () => engine.migrate(),
    connect: () => engine.migrate(),
    async enqueueBulk(numbers) {
      await engine.enqueueMany(numbers.map(request))
    },
    async enqueueOne(n) {
      await engine.enqueue(request(n))
    },
    async enqueueAt(n, due) {
      await engine.enqueue(kind({ n }, { runAt: due }))
    },
    async work(handle) {
      onJob = handle
      await engine.start()
      return () => engine.stop()
    },
    unsettled: () => observer.count(laneOf ? jobsInLanes : openJobs),
    allSettled: () => observer.none(laneOf ? jobsInLanes : openJobs),
    async close() {
      await engine.stop()
      await observer.close()
    },
  }
}

const bulk = { size: 5000, parallel: 2 }

export const asDocumented: Contender = { bulk, open: (place) => open(place, {}) }

const hundred = { pools: { light: { core: 100, max: 100 } } }

export const tuned: Contender = { bulk, open: (place) => open(place, hundred) }

/** The same settings, dispatched by Redis. */
export const onRedis: Contender = {
  bulk,
  open: (place) => open(place, { ...hundred, redis: `unix://${place.redisSocket}` }),
}

/** As many as `jobsInLanes` asks about. */
const lanes = 1_000

/** The same settings, with the jobs spread over a thousand lanes. */
export const inLanes: Contender = { bulk, open: (place) => open(place, hundred, (n) => `open:${n % lanes}`) }
