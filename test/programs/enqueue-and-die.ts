/**
 * Enqueues jobs of two kinds, the second kind so soon after the first that it leaves the word to a timer of a few milliseconds, and kills
 * itself before that: a crash between commit and wake-up. A few jobs of the first kind come before, so that nothing is slow for being new.
 */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { createEngine, silentLog } from '@sluice/engine'
import { say, settings } from './channel.ts'

const engine = createEngine({ database: settings.database, log: silentLog })
await engine.migrate()
const [first, second] = settings['kinds'] as [string, string]
const enqueue = (kind: string) => engine.enqueue({ kind, payload: {} })
for (let round = 0; round < 3; round++) {
  await Promise.all([
    enqueue(first),
    setImmediate()
      .then(() => setImmediate())
      .then(() => enqueue(first)),
  ])
  await setTimeout(20) // the wake-up that is due goes out
}
const notified = enqueue(first)
await setImmediate()
await setImmediate()
const { id } = await enqueue(second)
say({ stored: id })
process.kill(process.pid, 'SIGKILL')
await notified
