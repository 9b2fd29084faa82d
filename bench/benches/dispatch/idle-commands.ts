/**
 * What an idle worker, which leads its pool, sends to Redis, as Redis saw it arrive: apart from blocked reads and the renewals of the leader's lock there should
 * be nothing. What scripts do inside is not counted, but tells a renewal from other scripts: it looks at the lock first.
 */
import { Redis as Client } from 'ioredis'
import type { Ground } from '../../ground.ts'
import { pause } from '../../measure/clock.ts'
import { startChild } from '../../processes/start-child.ts'
import { prove, proveApart } from '../../proof.ts'

const settleDownMs = 5_000

export async function idleCommands(ground: Ground, quick: boolean) {
  const idleMs = quick ? 12_000 : 60_000
  const name = 'sluice on redis'
  const place = await ground.preparedPlace(name)
  const ready = Promise.withResolvers<void>()
  const worker = startChild('workAlong', { contender: name, place }, () => ready.resolve())
  await ready.promise
  worker.tell('begin')
  await pause(settleDownMs)
  const client = new Client({ path: place.redisSocket ?? '' })
  await client.ping() // a monitor that hears the greeting of its own sister takes it for an answer
  const monitor = await client.monitor()
  const seen: { words: readonly string[]; inScript: boolean }[] = []
  monitor.on('monitor', (_time: string, words: string[], source: string) => seen.push({ words, inScript: source === 'lua' }))
  await pause(idleMs)
  monitor.disconnect()
  client.disconnect()
  worker.tell('end')
  const { pid } = await worker.result
  proveApart('the worker', [pid])
  await place.drop()
  let blockedReads = 0
  let renewals = 0
  const others: string[] = []
  for (const [at, { words, inScript }] of seen.entries()) {
    const [command = ''] = words
    const next = seen[at + 1]
    if (inScript) continue
    if (command.toLowerCase() === 'xreadgroup') blockedReads += 1
    else if (command.toLowerCase() === 'evalsha' && next?.inScript && next.words[1]?.endsWith(':leader')) renewals += 1
    else others.push(command.toLowerCase())
  }
  prove(blockedReads > 0 && renewals > 0, 'the worker waits in Redis and leads its pool')
  const aMinute = 60_000 / idleMs
  return {
    idleCommandsPerMinute: others.length * aMinute,
    blockedReadsPerMinute: blockedReads * aMinute,
    renewalsPerMinute: renewals * aMinute,
    others: others.join(' '),
    watchMs: idleMs,
  }
}
