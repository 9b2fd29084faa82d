/**
 * Statistics: how users score, now and over time, and all of them together.
 */
import { z } from 'zod'
import { byId, listOf, paging } from '../fields.ts'
import { notFound } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'
import { globalStatistics, standing, userStatistics } from './user-schemas.ts'

export function addStatisticsRoutes(add: AddRoute, { collector }: Ground): void {
  const tag = 'statistics'
  const mustExist = async (wanted: number): Promise<string> => {
    const found = await collector.users.find(wanted)
    if (!found) throw notFound(`user ${wanted}`)
    return found.login
  }
  add({
    method: 'GET',
    url: '/api/users/:id/statistics',
    action: 'statistics.read',
    tag,
    summary: 'How a user scores, after the newest complete collection',
    params: byId,
    answers: { 200: userStatistics },
    refuses: [404],
    handle: async ({ params }) => {
      const found = await collector.statistics.user(params.id)
      if (found) return answer(200, found)
      throw notFound(`score of ${await mustExist(params.id)} yet: no collection has been completed`)
    },
  })
  add({
    method: 'GET',
    url: '/api/users/:id/statistics/history',
    action: 'statistics.read',
    tag,
    summary: 'How a user scored after each collection, newest first',
    params: byId,
    query: z.strictObject(paging),
    answers: { 200: listOf(userStatistics) },
    refuses: [404],
    handle: async ({ params, query }) => {
      await mustExist(params.id)
      return answer(200, await collector.statistics.history(params.id, query))
    },
  })
  add({
    method: 'GET',
    url: '/api/statistics',
    action: 'statistics.read',
    tag,
    summary: 'All users together, as of the newest collection',
    answers: { 200: globalStatistics },
    refuses: [404],
    handle: async () => {
      const found = await collector.statistics.global()
      if (!found) throw notFound('statistics yet: no collection has been completed')
      return answer(200, found)
    },
  })
  add({
    method: 'GET',
    url: '/api/statistics/history',
    action: 'statistics.read',
    tag,
    summary: 'All users together after each collection, newest first',
    query: z.strictObject(paging),
    answers: { 200: listOf(globalStatistics) },
    handle: async ({ query }) => answer(200, await collector.statistics.globalHistory(query)),
  })
  add({
    method: 'GET',
    url: '/api/leaderboard',
    action: 'statistics.read',
    tag,
    summary: 'Users by their score, highest first',
    query: z.strictObject({
      by: z.enum(['score', 'activity', 'impact']).exactOptional().describe('score when left out.'),
      ...paging,
    }),
    answers: { 200: listOf(standing) },
    handle: async ({ query: { by = 'score', ...page } }) => answer(200, await collector.statistics.leaderboard({ by, page })),
  })
}
