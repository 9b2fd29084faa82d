/**
 * Jobs: looked at. Adding and steering them is in job-deeds.ts.
 */
import { z } from 'zod'
import { byId, countInUrl, listOf, splitPage } from '../fields.ts'
import { notFound } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'
import { attempt, explanation, job, jobQuery, logLine } from './job-schemas.ts'

export function addJobRoutes(add: AddRoute, { engine }: Ground): void {
  const mustExist = async (id: number) => {
    const found = await engine.find(id)
    if (!found) throw notFound(`job ${id}`)
    return found
  }
  add({
    method: 'GET',
    url: '/api/jobs',
    action: 'jobs.read',
    tag: 'jobs',
    summary: 'List jobs, live and finished, newest first',
    query: jobQuery,
    answers: { 200: listOf(job) },
    handle: async ({ query }) => {
      const { filter, page } = splitPage(query)
      const { payload, ...rest } = filter
      return answer(
        200,
        await (payload === undefined ? engine.inspect.jobs(rest, page) : engine.inspect.search({ payload, ...rest }, page)),
      )
    },
  })
  add({
    method: 'GET',
    url: '/api/jobs/:id',
    action: 'jobs.read',
    tag: 'jobs',
    summary: 'Show a job',
    params: byId,
    answers: { 200: job },
    refuses: [404],
    handle: async ({ params }) => answer(200, await mustExist(params.id)),
  })
  add({
    method: 'GET',
    url: '/api/jobs/:id/attempts',
    action: 'jobs.read',
    tag: 'jobs',
    summary: 'The attempts of a job, oldest first',
    params: byId,
    answers: { 200: z.object({ items: z.array(attempt) }) },
    refuses: [404],
    handle: async ({ params }) => {
      await mustExist(params.id)
      return answer(200, { items: await engine.attempts(params.id) })
    },
  })
  add({
    method: 'GET',
    url: '/api/jobs/:id/log',
    action: 'jobs.read',
    tag: 'jobs',
    summary: 'What the handler of a job wrote down, oldest first',
    params: byId,
    query: z.strictObject({
      after: countInUrl(0, Number.MAX_SAFE_INTEGER).exactOptional().describe('The id of the last line that is known.'),
      limit: countInUrl(1, 500).exactOptional().describe('200 when left out.'),
    }),
    answers: { 200: z.object({ items: z.array(logLine) }) },
    refuses: [404],
    handle: async ({ params, query }) => {
      await mustExist(params.id)
      return answer(200, { items: await engine.jobLog(params.id, query) })
    },
  })
  add({
    method: 'GET',
    url: '/api/jobs/:id/why',
    action: 'jobs.read',
    tag: 'jobs',
    summary: 'Why a job is not running',
    params: byId,
    answers: { 200: explanation },
    refuses: [404],
    handle: async ({ params }) => {
      await mustExist(params.id)
      return answer(200, await engine.why(params.id))
    },
  })
}
