/**
 * Collections: started, watched, stopped. One of a user at a time.
 */
import { z } from 'zod'
import { byId, id, nothing, time, withReason } from '../fields.ts'
import { notFound, refuse } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'
import { collection } from './user-schemas.ts'

const requested = z
  .object({
    userId: id,
    trigger: z.string(),
    event: id.describe('The request as it was published. Its run begins when a worker takes it.'),
  })
  .meta({ id: 'RequestedCollection' })

const range = z
  .strictObject({ from: time, to: time, slice: z.enum(['day', 'hour']).describe('Each slice is walked on its own.') })
  .refine(({ from, to }) => from < to, { error: 'comes before `from`', path: ['to'] })

export function addCollectionRoutes(add: AddRoute, { collector }: Ground): void {
  const tag = 'users'
  const find = async (wanted: number) => {
    const found = await collector.users.find(wanted)
    if (!found) throw notFound(`user ${wanted}`)
    return found
  }
  add({
    method: 'POST',
    url: '/api/users/:id/collections',
    action: 'collections.start',
    tag,
    summary: 'Collect what is new of a user',
    description: 'One of a user at a time: 409 names the run that is under way.',
    params: byId,
    body: z
      .strictObject({ start: time.exactOptional().describe('Only what happened since; where the last one ended when left out.') })
      .nullish(),
    answers: { 202: requested },
    refuses: [404, 409],
    handle: async ({ params, body }) => {
      await find(params.id)
      const made = await collector.request(params.id, { ...body, trigger: 'manual' })
      return answer(202, made, { location: `/api/users/${params.id}/collection` })
    },
  })
  add({
    method: 'GET',
    url: '/api/users/:id/collection',
    action: 'collections.read',
    tag,
    summary: 'How far the running or newest collection is, what is left of the quota, and when it may end',
    params: byId,
    answers: { 200: collection },
    refuses: [404],
    handle: async ({ params }) => {
      const found = await collector.progress(params.id)
      if (found) return answer(200, found)
      const { login } = await find(params.id)
      throw notFound(`collection of ${login} yet`)
    },
  })
  add({
    method: 'POST',
    url: '/api/users/:id/collection/cancel',
    action: 'collections.cancel',
    tag,
    summary: 'Cancel the running collection; what it stored stays',
    params: byId,
    body: withReason,
    answers: { 200: z.object({ canceled: z.literal(true) }) },
    refuses: [404, 409],
    handle: async ({ params, body }) => {
      const { login } = await find(params.id)
      if ((await collector.cancel(params.id, body?.reason)) === 'not active')
        throw refuse('CONFLICT', { detail: `No collection of ${login} is under way. Only one that runs is canceled.` })
      return answer(200, { canceled: true })
    },
  })
  add({
    method: 'POST',
    url: '/api/users/:id/collection/retry',
    action: 'collections.retry',
    tag,
    summary: 'Run the failed jobs of the newest collection again',
    params: byId,
    body: nothing,
    answers: { 200: z.object({ retried: z.int() }) },
    refuses: [404],
    handle: async ({ params }) => {
      await find(params.id)
      return answer(200, { retried: await collector.retry(params.id) })
    },
  })
  add({
    method: 'POST',
    url: '/api/users/:id/backfill',
    action: 'collections.backfill',
    tag,
    summary: 'Collect a span of the past in slices',
    description: 'Events are left out: GitHub keeps 300 of them for 30 days.',
    params: byId,
    body: range,
    answers: { 202: z.object({ run: id }) },
    refuses: [404, 409],
    handle: async ({ params, body }) => {
      await find(params.id)
      const { run } = await collector.backfill(params.id, body)
      return answer(202, { run }, { location: `/api/runs/${run}` })
    },
  })
}
