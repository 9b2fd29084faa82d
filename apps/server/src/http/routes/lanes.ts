/**
 * Lanes: what budgets, concurrency and pauses are counted against.
 */
import { z } from 'zod'
import { byName, done, duration, flag, listOf, name, nothing, paging, splitPage, untilWhen, withReason } from '../fields.ts'
import { notFound } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'

const lane = z
  .object({
    name: z.string(),
    owner: z.string().nullable(),
    weight: z.int().describe('Its share beside other lanes.'),
    cap: z.int().nullable().describe('Jobs that run at once.'),
    metered: z.boolean().describe('A server sets its budget.'),
    floor: z.int().describe('Permits that are left for others.'),
    limit: z.int().nullable().describe('The most a window holds, where somebody said.'),
    remaining: z.int().nullable().describe('Permits that may still be given, the floor included; null while nothing is known.'),
    resetAt: z.date().nullable(),
    holdUntil: z.date().nullable(),
    paused: z.string().nullable().describe('The reason.'),
    failures: z.int(),
    brokenUntil: z.date().nullable(),
    inFlight: z.int(),
    closed: z.boolean().describe('Nothing of it starts now.'),
    opensAt: z.date().nullable(),
  })
  .meta({ id: 'Lane' })

const limits = z
  .strictObject({
    cap: z.int().min(1).max(1_000_000).nullable().exactOptional().describe('Jobs that run at once; null lifts the limit.'),
    budget: z
      .strictObject({
        floor: z.int().min(0).max(2_000_000_000).exactOptional().describe('Left for others; 100 when left out.'),
        limit: z.int().min(1).max(2_000_000_000).exactOptional().describe('The most a window can hold.'),
      })
      .exactOptional(),
    weight: z.int().min(1).max(1_000).exactOptional(),
    breaker: z
      .strictObject({ after: z.int().min(1).max(10_000), cooldown: duration })
      .exactOptional()
      .describe('After so many failures in a row nothing starts for a while.'),
    owner: name.exactOptional(),
  })
  .meta({ id: 'LaneLimits' })

export function addLaneRoutes(add: AddRoute, { engine }: Ground): void {
  const mustExist = async (name: string) => {
    const found = await engine.lanes.find(name)
    if (!found) throw notFound(`lane "${name}"`)
    return found
  }
  add({
    method: 'GET',
    url: '/api/lanes',
    action: 'lanes.read',
    tag: 'lanes',
    summary: 'List lanes by name',
    query: z.strictObject({
      owner: name.exactOptional(),
      closed: flag.exactOptional().describe('Those that start nothing now, or those that may.'),
      ...paging,
    }),
    answers: { 200: listOf(lane) },
    handle: async ({ query }) => {
      const { filter, page } = splitPage(query)
      return answer(200, await engine.inspect.lanes(filter, page))
    },
  })
  add({
    method: 'GET',
    url: '/api/lanes/:name',
    action: 'lanes.read',
    tag: 'lanes',
    summary: 'Show a lane',
    params: byName,
    answers: { 200: lane },
    refuses: [404],
    handle: async ({ params }) => answer(200, await mustExist(params.name)),
  })
  add({
    method: 'PUT',
    url: '/api/lanes/:name/limits',
    action: 'lanes.set',
    tag: 'lanes',
    summary: 'Set limits of one lane',
    description: 'Instead of those of its pattern. What is left out stays as it is.',
    params: byName,
    body: limits,
    answers: { 200: done },
    handle: async ({ params, body }) => {
      await engine.lanes.set(params.name, body)
      return answer(200, { done: true })
    },
  })
  add({
    method: 'POST',
    url: '/api/lanes/:name/hold',
    action: 'lanes.hold',
    tag: 'lanes',
    summary: 'Start nothing in a lane before a time',
    params: byName,
    body: untilWhen,
    answers: { 200: done },
    handle: async ({ params, body }) => {
      await engine.lanes.hold(params.name, body.until)
      return answer(200, { done: true })
    },
  })
  add({
    method: 'POST',
    url: '/api/lanes/:name/pause',
    action: 'lanes.pause',
    tag: 'lanes',
    summary: 'Pause a lane',
    description: 'Holds from the next claim on, however many jobs wait. Jobs that run go on.',
    params: byName,
    body: withReason,
    answers: { 200: done },
    refuses: [404],
    handle: async ({ params, body }) => {
      await mustExist(params.name)
      await engine.lanes.pause(params.name, body?.reason)
      return answer(200, { done: true })
    },
  })
  add({
    method: 'POST',
    url: '/api/lanes/:name/resume',
    action: 'lanes.resume',
    tag: 'lanes',
    summary: 'Resume a lane',
    params: byName,
    body: nothing,
    answers: { 200: done },
    handle: async ({ params }) => {
      await engine.lanes.resume(params.name)
      return answer(200, { done: true })
    },
  })
}
