/**
 * Jobs: looked at, added, steered.
 */
import { z } from 'zod'
import { idInUrl } from '../fields.ts'
import { notFound } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './all.ts'
import { attempt, enqueued, explanation, job, jobRequest } from './job-schemas.ts'

const one = z.object({ id: idInUrl })

export function addJobRoutes(add: AddRoute, { engine, limits }: Ground): void {
  add({
    method: 'POST',
    url: '/api/jobs',
    action: 'jobs.enqueue',
    tag: 'jobs',
    summary: 'Enqueue a job',
    description:
      'Of any kind that the database knows; this process need not define it. 200 when a job with the same key was there already.',
    body: jobRequest,
    answers: { 200: enqueued, 201: enqueued },
    handle: async ({ body, settle }) =>
      settle(async (client) => {
        const made = await engine.enqueue({ ...body, payload: body.payload ?? {} }, client ? { client } : {})
        return answer(made.created ? 201 : 200, made, { location: `/api/jobs/${made.id}` })
      }),
  })
  add({
    method: 'POST',
    url: '/api/jobs/many',
    action: 'jobs.enqueue',
    tag: 'jobs',
    summary: 'Enqueue many jobs, all of them or none',
    body: z.strictObject({ jobs: z.array(jobRequest).min(1).max(limits.enqueueMax) }),
    answers: { 200: z.object({ jobs: z.array(enqueued) }) },
    handle: async ({ body, settle }) =>
      settle(async (client) => {
        const requests = body.jobs.map((request) => ({ ...request, payload: request.payload ?? {} }))
        return answer(200, { jobs: await engine.enqueueMany(requests, client ? { client } : {}) })
      }),
  })
  add({
    method: 'GET',
    url: '/api/jobs/:id',
    action: 'jobs.read',
    tag: 'jobs',
    summary: 'Show a job',
    params: one,
    answers: { 200: job },
    refuses: [404],
    handle: async ({ params }) => {
      const found = await engine.find(params.id)
      if (!found) throw notFound(`job ${params.id}`)
      return answer(200, found)
    },
  })
  add({
    method: 'GET',
    url: '/api/jobs/:id/attempts',
    action: 'jobs.read',
    tag: 'jobs',
    summary: 'The attempts of a job, oldest first',
    params: one,
    answers: { 200: z.object({ items: z.array(attempt) }) },
    handle: async ({ params }) => answer(200, { items: await engine.attempts(params.id) }),
  })
  add({
    method: 'GET',
    url: '/api/jobs/:id/why',
    action: 'jobs.read',
    tag: 'jobs',
    summary: 'Why a job is not running',
    params: one,
    answers: { 200: explanation },
    handle: async ({ params }) => answer(200, await engine.why(params.id)),
  })
}
