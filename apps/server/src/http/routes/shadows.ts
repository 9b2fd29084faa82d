/**
 * Shadows: two strategies side by side for one user, without touching the live data. One comparison of a user at a time.
 */
import { z } from 'zod'
import { byId } from '../fields.ts'
import { notFound } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'
import { shadow, strategy } from './shadow-schemas.ts'

export function addShadowRoutes(add: AddRoute, { collector }: Ground): void {
  const tag = 'users'
  add({
    method: 'POST',
    url: '/api/users/:id/shadow',
    action: 'shadows.start',
    tag,
    summary: 'Collect a user by two strategies side by side, and compare',
    description: 'The live data is not touched, and its jobs go first. 409 names the comparison that is under way.',
    params: byId,
    body: z
      .strictObject({
        strategies: z.array(strategy).length(2).exactOptional().describe('Two of them; graphql and rest when left out.'),
        keep: z.boolean().exactOptional().describe('Whether the collections stay after the report; false when left out.'),
      })
      .nullish(),
    answers: { 202: shadow },
    refuses: [404, 409],
    handle: async ({ params, body }) => {
      const started = await collector.shadows.start(params.id, body ?? {})
      return answer(202, started, { location: `/api/users/${params.id}/shadow` })
    },
  })
  add({
    method: 'GET',
    url: '/api/users/:id/shadow',
    action: 'shadows.read',
    tag,
    summary: 'The comparison under way, or the report of the last one',
    params: byId,
    answers: { 200: shadow },
    refuses: [404],
    handle: async ({ params }) => {
      const found = await collector.shadows.newest(params.id)
      if (found) return answer(200, found)
      throw notFound(`comparison of user ${params.id} yet`)
    },
  })
}
