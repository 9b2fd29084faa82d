/**
 * Sluice itself, with everything on: ledger, dedupe keys, fences, heartbeat, wake-ups.
 *
 * `tuned` gives the pool the hundred slots that the tuned peers have; nothing else is set in either case.
 */
import { createEngine, type EngineOptions } from '@sluice/engine'
import type { Contender, Place, Session } from './contender.ts'
import { observe } from './observer.ts'
import { noop } from './sluice-kind.ts'

function open(place: Place, options: Pick<EngineOptions, 'pools'>): Session {
  let onJob: (n: number) => void = () => {}
  const kind = noop((n) => onJob(n))
  const engine = createEngine({ database: place.databaseUrl, kinds: [kind], ...options })
  const observer = observe(place.databaseUrl)
  return {
    prepare: () => engine.migrate(),
    connect: () => engine.migrate(),
    async enqueueBulk(numbers) {
      await engine.enqueueMany(numbers.map((n) => kind({ n })))
    },
    async enqueueOne(n) {
      await engine.enqueue(kind({ n }))
    },
    async enqueueAt(n, due) {
      await engine.enqueue(kind({ n }, { runAt: due }))
    },
    async work(handle) {
      onJob = handle
      await engine.start()
      return () => engine.stop()
    },
    unsettled: () => observer.count(`sluice.job where state in ('ready', 'running')`),
    allSettled: () => observer.none(`sluice.job where state = 'ready'`, `sluice.job where state = 'running'`),
    async close() {
      await engine.stop()
      await observer.close()
    },
  }
}

const bulk = { size: 5000, parallel: 2 }

export const asDocumented: Contender = { bulk, open: (place) => open(place, {}) }

export const tuned: Contender = { bulk, open: (place) => open(place, { pools: { light: { core: 100, max: 100 } } }) }
