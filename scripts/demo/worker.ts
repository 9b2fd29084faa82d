/**
 * One worker process of the demo: an engine, its two kinds, and a line to the demo on which it says what it does.
 *
 * SIGTERM stops it in order. SIGINT is the demo's business, because Ctrl-C reaches the whole group. When the demo is gone, so is the worker.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createEngine, type Log } from '@sluice/engine'
import { kinds, type Workbench } from './kinds.ts'
import { leaseMs, slots, statusEveryMs, type WorkerMessage } from './link.ts'

const say = (message: WorkerMessage): void => void process.send?.(message, undefined, {}, () => {})
const tell = (event: string, fields: Record<string, unknown> = {}): void => say({ type: 'log', event, fields })
const log: Log = { info: tell, warn: tell, error: tell }

const doing = new Set<string>()
const services: Workbench = {
  server: process.argv[3] ?? '',
  async work(label, ms, signal) {
    doing.add(label)
    try {
      await delay(ms, undefined, { signal })
    } finally {
      doing.delete(label)
    }
  },
}

process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit(1))

const engine = createEngine({
  database: process.argv[2] ?? '',
  kinds,
  services,
  pools: { light: { core: slots, max: slots } },
  lease: leaseMs,
  grace: '5s',
  log,
})
process.once('SIGTERM', () => void engine.stop().then(() => process.exit(0)))
await engine.start()
setInterval(() => {
  const { running, leads } = engine.status()
  say({ type: 'status', running, leads, doing: [...doing][0] ?? '' })
}, statusEveryMs)
