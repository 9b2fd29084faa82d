/**
 * Owners: on whose behalf jobs run. A pause spans all of their lanes.
 */
import { z } from 'zod'
import { byName, done, listOf, nothing, paging, withReason } from '../fields.ts'
import { notFound } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'

const owner = z
  .object({
    name: z.string(),
    cap: z.int().nullable().describe('Jobs that run at once in all of its lanes.'),
    holdUntil: z.date().nullable(),
    paused: z.string().nullable().describe('The reason.'),
    inFlight: z.int(),
  })
  .meta({ id: 'Owner' })

export function addOwnerRoutes(add: AddRoute, { engine }: Ground): void {
  add({
    method: 'GET',
    url: '/api/owners',
    action: 'owners.read',
    tag: 'owners',
    summary: 'List owners that have lanes or limits, by name',
    query: z.strictObject(paging),
    answers: { 200: listOf(owner.extend({ lanes: z.int().describe('Counted up to 1,000.') }).meta({ id: 'ListedOwner' })) },
    handle: async ({ query }) => answer(200, await engine.inspect.owners(query)),
  })
  add({
    method: 'GET',
    url: '/api/owners/:name',
    action: 'owners.read',
    tag: 'owners',
    summary: 'Show an owner that has limits',
    params: byName,
    answers: { 200: owner },
    refuses: [404],
    handle: async ({ params }) => {
      const found = await engine.owners.find(params.name)
      if (!found) throw notFound(`owner "${params.name}" with limits`)
      return answer(200, found)
    },
  })
  add({
    method: 'POST',
    url: '/api/owners/:name/pause',
    action: 'owners.pause',
    tag: 'owners',
    summary: 'Pause all that runs on behalf of an owner',
    description: 'The next claim of every process leaves its jobs alone. Jobs that run go on.',
    params: byName,
    body: withReason,
    answers: { 200: done },
    handle: async ({ params, body }) => {
      await engine.owners.pause(params.name, body?.reason)
      return answer(200, { done: true })
    },
  })
  add({
    method: 'POST',
    url: '/api/owners/:name/resume',
    action: 'owners.resume',
    tag: 'owners',
    summary: 'Resume an owner',
    params: byName,
    body: nothing,
    answers: { 200: done },
    handle: async ({ params }) => {
      await engine.owners.resume(params.name)
      return answer(200, { done: true })
    },
  })
}
