/**
 * A Sluice worker whose jobs call the oracle and report what its headers say. Tells who dispatches when it is ready, and ends when it is told to.
 */
import { createEngine, defineKind, done } from '@sluice/engine'
import { z } from 'zod'
import type { Line } from '../processes/line.ts'

export interface SpendInput {
  readonly databaseUrl: string
  readonly url: string
  readonly slots: number
  /** Address of a Redis that dispatches. */
  readonly redis?: string | undefined
}

const callOf = (url: string) =>
  defineKind('bench.call', {
    payload: z.object({ tenant: z.number(), n: z.number() }),
    async run({ payload, report }) {
      const { headers } = await fetch(`${url}/${payload.tenant}`)
      report({ remaining: Number(headers.get('x-remaining')), resetAt: new Date(Number(headers.get('x-reset-ms'))) })
      return done()
    },
  })

const budgets = { 'tenant:*': { budget: { floor: 0 } } }

export async function spend(input: SpendInput, line: Line): Promise<{ pid: number }> {
  const size = { core: input.slots, max: input.slots }
  const engine = createEngine({
    database: input.databaseUrl,
    kinds: [callOf(input.url)],
    lanes: budgets,
    pools: { light: size },
    ...(input.redis === undefined ? {} : { redis: input.redis }),
  })
  await engine.start()
  line.tell(engine.status().dispatch.by)
  await line.told()
  await engine.stop()
  return { pid: process.pid }
}

export async function enqueueCalls(databaseUrl: string, tenants: number, calls: number): Promise<void> {
  const kind = callOf('')
  const engine = createEngine({ database: databaseUrl, kinds: [kind], lanes: budgets })
  for (let tenant = 0; tenant < tenants; tenant += 1)
    await engine.enqueueMany(Array.from({ length: calls }, (_, n) => kind({ tenant, n }, { lane: `tenant:${tenant}` })))
  await engine.stop()
}
