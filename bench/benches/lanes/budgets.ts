/**
 * Budgets: several worker processes spend what a server gives, and the server counts. Windows are short and answers slow, so much of
 * the budget is under way at any time; resets in the headers are off by a little.
 */
import type { Ground } from '../../ground.ts'
import { pause } from '../../measure/clock.ts'
import { mean } from '../../measure/statistics.ts'
import { startChild } from '../../processes/start-child.ts'
import { prove, proveApart } from '../../proof.ts'
import { enqueueCalls } from '../../roles/spend.ts'

const usual = { tenants: 8, limit: 60, workers: 3, by: 'postgres' as 'postgres' | 'redis' }

export async function budgets(ground: Ground, quick: boolean, { tenants, limit, workers, by } = usual) {
  const server = { tenants, limit, windowMs: 2_000, answerMs: [20, 120] as const, jitterMs: 100 }
  const windows = quick ? 3 : 15
  const place = await ground.preparedPlace('sluice in lanes')
  const redis = by === 'redis' ? `unix://${place.redisSocket}` : undefined
  await enqueueCalls(place.databaseUrl, server.tenants, server.limit * (windows + 2))
  await place.settle()
  const opened = Promise.withResolvers<string>()
  const oracle = startChild('oracle', server, (told) => opened.resolve((told as { url: string }).url))
  const url = await Promise.race([opened.promise, oracle.result.then(() => '')])
  const spenders = await Promise.all(
    Array.from({ length: workers }, async () => {
      const ready = Promise.withResolvers<unknown>()
      const child = startChild('spend', { databaseUrl: place.databaseUrl, url, slots: 16, redis }, ready.resolve)
      const dispatchedBy = await Promise.race([ready.promise, child.result])
      prove(dispatchedBy === by, `the jobs of a spender are dispatched by ${by}`)
      return child
    }),
  )
  await pause(windows * server.windowMs)
  oracle.tell('stop')
  const { calls, overdrawn, unused, pid } = await oracle.result
  for (const { tell } of spenders) tell('stop')
  await Promise.all(spenders.map(({ kill }) => kill()))
  proveApart('server and spenders', [pid, ...spenders.map((child) => child.pid)])
  await place.drop()
  return {
    overdrawn,
    unusedAtReset: mean(unused),
    calls,
    windows: unused.length,
    workers,
    ...server,
    answerMs: [...server.answerMs],
  }
}
