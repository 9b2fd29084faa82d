/**
 * The state of everything at a glance, and what waits for somebody.
 */
import { z } from 'zod'
import { listOf, paging } from '../fields.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'
import { deadLetters, overview } from './overview-schemas.ts'

export function addOverviewRoutes(add: AddRoute, { engine }: Ground): void {
  add({
    method: 'GET',
    url: '/api/overview',
    action: 'overview.read',
    tag: 'overview',
    summary: 'The state of everything at a glance',
    answers: { 200: overview },
    handle: async () => {
      const seen = await engine.inspect.overview()
      return answer(200, { ...seen, dispatch: await engine.dispatch(seen.pools.map(({ name }) => name)) })
    },
  })
  add({
    method: 'GET',
    url: '/api/dead-letters',
    action: 'jobs.read',
    tag: 'jobs',
    summary: 'Failed jobs that wait for somebody, grouped by error',
    query: z.strictObject(paging),
    answers: { 200: listOf(deadLetters) },
    handle: async ({ query }) => answer(200, await engine.inspect.deadLetters(query)),
  })
}
