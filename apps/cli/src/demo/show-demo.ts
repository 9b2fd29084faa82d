/**
 * The demo: `up` in a temporary folder, a few hundred jobs of which some fail twice, a bar, and the tally. Nothing is left behind.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from '@sluice/engine'
import { ping, readConfig, startRole } from '@sluice/server'
import { exit } from '../session/exit.ts'
import { follow } from '../session/follow.ts'
import type { Session } from '../session/session.ts'
import type { Call } from '../session/tree.ts'
import { Bar } from '../terminal/bar.ts'
import { span } from '../terminal/times.ts'

const beatMs = 1_000
const restMs = 100
/** Every so many fails once before it succeeds. */
const failEvery = 10
const takeMsMax = 40

export async function showDemo({ session, options }: Call): Promise<number> {
  session.stopsInOrder = true
  const { output, interrupted } = session
  const stays = options['exit'] !== true
  const folder = mkdtempSync(join(tmpdir(), 'sluice-demo-'))
  chmodSync(folder, 0o711) // as root, the server runs under another account
  session.onEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  output.say('Starting PostgreSQL and the whole system in a temporary folder …')
  const config = readConfig({ flags: { port: '0', logLevel: 'error' }, env: {}, cwd: folder })
  const running = await startRole('up', config, { opening: session.takeAlong })
  const { local } = running.database
  session.onEnd(async () => {
    await running.stop()
    // As root the data may lie elsewhere, and so may the socket.
    for (const made of [local?.dataFolder, local?.socketFolder])
      if (made) rmSync(made, { recursive: true, force: true, maxRetries: 5 })
  })
  const { engine, address } = running
  // Where it ends by itself, the address would be dead before anybody could look.
  output.say(stays ? `It is up on ${address ?? ''} (API and /docs).` : 'It is up.')
  const count = (options['jobs'] as number | undefined) ?? 300
  const requests = Array.from({ length: count }, (_, at) =>
    ping({ message: `job ${at + 1}`, takeMs: (at * 7) % takeMsMax, ...(at % failEvery === 0 ? { failTimes: 1 } : {}) }),
  )
  const startMs = session.now()
  await engine.enqueueMany(requests)
  const { done, failed } = await watchUntilDone(session, engine, count)
  output.answer({ jobs: count, succeeded: done - failed, failed, ...(stays ? { address } : {}) }, () =>
    interrupted.aborted
      ? `${done} of ${count} jobs were done.`
      : `${count} jobs, of which ${Math.ceil(count / failEvery)} failed once, are done in ${span(session.now() - startMs)}.`,
  )
  if (stays && !interrupted.aborted) {
    output.say(
      `It goes on until Ctrl-C. In another terminal: curl ${address ?? ''}/api/jobs -H 'content-type: application/json' -d '{"kind":"sluice.ping"}'`,
    )
    await new Promise((resolve) => interrupted.addEventListener('abort', resolve))
  }
  return failed === 0 && done === count ? exit.ok : interrupted.aborted ? exit.interrupted : exit.failure
}

async function watchUntilDone(session: Session, engine: Engine, count: number): Promise<{ done: number; failed: number }> {
  const bar = new Bar(session.process.stderr, session.output.side)
  session.onEnd(() => bar.end())
  let seen = { done: 0, failed: 0 }
  for await (const _ of follow(engine, { topics: ['jobs'], beatMs, restMs, signal: session.interrupted })) {
    const { jobs } = await engine.inspect.overview()
    const left = jobs.scheduled.count + jobs.ready.count + jobs.running.count + jobs.paused.count
    seen = { done: count - left, failed: jobs.failed.count }
    const waiting = jobs.scheduled.count > 0 ? `, ${jobs.scheduled.count} come back after a failure` : ''
    await bar.show(seen.done, count, `${jobs.running.count} running${waiting}`)
    if (left === 0) break
  }
  bar.end()
  return seen
}
