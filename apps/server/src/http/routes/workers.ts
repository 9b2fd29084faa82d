/**
 * Processes that work, the one that leads, and what they can do: pools and kinds.
 */
import { z } from 'zod'
import type { Action } from '../../access/actions.ts'
import { byName, done, nothing, resumed, withReason } from '../fields.ts'
import { notFound } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'
import { kind, leader, pool, worker } from './worker-schemas.ts'

export function addWorkerRoutes(add: AddRoute, ground: Ground): void {
  const { inspect } = ground.engine
  add({
    method: 'GET',
    url: '/api/workers',
    action: 'workers.read',
    tag: 'workers',
    summary: 'Processes that work, or did until lately',
    answers: { 200: z.object({ items: z.array(worker) }) },
    handle: async () => answer(200, { items: await inspect.workers() }),
  })
  add({
    method: 'GET',
    url: '/api/leader',
    action: 'workers.read',
    tag: 'workers',
    summary: 'Who leads',
    answers: { 200: leader },
    handle: async () => answer(200, await inspect.leader()),
  })
  add({
    method: 'GET',
    url: '/api/pools',
    action: 'pools.read',
    tag: 'pools',
    summary: 'Pools that processes serve or jobs wait for',
    answers: { 200: z.object({ items: z.array(pool) }) },
    handle: async () => answer(200, { items: await inspect.pools() }),
  })
  add({
    method: 'GET',
    url: '/api/kinds',
    action: 'kinds.read',
    tag: 'kinds',
    summary: 'Kinds that the database knows',
    answers: { 200: z.object({ items: z.array(kind) }) },
    handle: async () => answer(200, { items: await inspect.kinds() }),
  })
  addPauses(add, ground, 'pool', { pause: 'pools.pause', resume: 'pools.resume' })
  addPauses(add, ground, 'kind', { pause: 'kinds.pause', resume: 'kinds.resume' })
}

/** A name that nobody knows is refused, so that a slip of the pen is not a pause that nobody notices. */
function addPauses(add: AddRoute, { engine }: Ground, scope: 'pool' | 'kind', actions: Record<'pause' | 'resume', Action>): void {
  const check = async (name: string): Promise<void> => {
    const known = await (scope === 'pool' ? engine.inspect.pools() : engine.inspect.kinds())
    if (!known.some((one) => one.name === name)) throw notFound(`${scope} "${name}"`)
  }
  add({
    method: 'POST',
    url: `/api/${scope}s/:name/pause`,
    action: actions.pause,
    tag: `${scope}s`,
    summary: `Pause a ${scope}`,
    description: 'Holds from the next claim on, in all processes. Jobs that run go on.',
    params: byName,
    body: withReason,
    answers: { 200: done },
    refuses: [404],
    handle: async ({ params, body }) => {
      await check(params.name)
      await engine.pause({ scope, name: params.name }, body?.reason)
      return answer(200, { done: true })
    },
  })
  add({
    method: 'POST',
    url: `/api/${scope}s/:name/resume`,
    action: actions.resume,
    tag: `${scope}s`,
    summary: `Resume a ${scope}`,
    params: byName,
    body: nothing,
    answers: { 200: resumed },
    handle: async ({ params }) => answer(200, { resumed: await engine.resume({ scope, name: params.name }) }),
  })
}
