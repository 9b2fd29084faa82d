/**
 * Jobs: added and steered.
 */
import type { Engine } from '@sluice/engine'
import { z } from 'zod'
import { byId, done, nothing, text } from '../fields.ts'
import { notFound, refuse } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'
import { bulkAnswer, bulkRequest, enqueued, jobRequest } from './job-schemas.ts'

export function addJobDeeds(add: AddRoute, { engine, limits }: Ground): void {
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
        const made = await engine.enqueue({ payload: {}, ...body }, client ? { client } : {})
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
    answers: { 200: z.object({ jobs: z.array(enqueued).describe('In the order of the request.') }) },
    handle: async ({ body, settle }) =>
      settle(async (client) => {
        const requests = body.jobs.map((request) => ({ payload: {}, ...request }))
        return answer(200, { jobs: await engine.enqueueMany(requests, client ? { client } : {}) })
      }),
  })
  add({
    method: 'POST',
    url: '/api/jobs/bulk',
    action: 'jobs.bulk',
    tag: 'jobs',
    summary: 'Retry, cancel or discard all jobs that fit a filter',
    description:
      'Ask with `dryRun` first. What was changed is changed also when a later one is refused; `more` says that it is worth to ask again.',
    body: bulkRequest,
    answers: { 200: bulkAnswer },
    handle: async ({ body: { action, filter, ...options } }) => answer(200, await engine.inspect.bulk(action, filter, options)),
  })
  add({
    method: 'POST',
    url: '/api/jobs/:id/retry',
    action: 'jobs.retry',
    tag: 'jobs',
    summary: 'Run a failed job again',
    params: byId,
    body: nothing,
    answers: { 200: done },
    refuses: [404, 409],
    handle: async ({ params }) => {
      const verdict = (await engine.retry(params.id)).get(params.id)
      if (verdict === 'conflict')
        throw refuse('CONFLICT', {
          detail: `Another job with the key of job ${params.id} is live. Wait for its end, or discard this one.`,
        })
      if (verdict !== 'retried') await refuseState(engine, params.id, 'Only failed jobs are retried.')
      return answer(200, { done: true })
    },
  })
  add({
    method: 'POST',
    url: '/api/jobs/:id/cancel',
    action: 'jobs.cancel',
    tag: 'jobs',
    summary: 'Cancel a job, or everything below it as well',
    params: byId,
    body: z
      .strictObject({
        tree: z.boolean().exactOptional().describe('Everything below it as well.'),
        reason: text(1_000).exactOptional(),
      })
      .nullish(),
    answers: {
      200: z
        .object({ canceled: z.int(), requested: z.int().describe('They run, and were asked to stop.') })
        .meta({ id: 'Canceled' }),
    },
    refuses: [404, 409],
    handle: async ({ params, body }) => {
      const verdicts = [...(await engine.cancel(params.id, body ?? {})).values()]
      const count = (wanted: string): number => verdicts.filter((verdict) => verdict === wanted).length
      const counts = { canceled: count('canceled'), requested: count('requested') }
      if (counts.canceled + counts.requested === 0) await refuseState(engine, params.id, 'Only live jobs are canceled.')
      return answer(200, counts)
    },
  })
  add({
    method: 'POST',
    url: '/api/jobs/:id/discard',
    action: 'jobs.discard',
    tag: 'jobs',
    summary: 'Put a failed job away',
    params: byId,
    body: nothing,
    answers: { 200: done },
    refuses: [404, 409],
    handle: async ({ params }) => {
      if ((await engine.discard(params.id)) === 0) await refuseState(engine, params.id, 'Only failed jobs are discarded.')
      return answer(200, { done: true })
    },
  })
}

/** It was not done: because there is no such job, or because of the state it is in. */
async function refuseState(engine: Engine, job: number, rule: string): Promise<never> {
  const found = await engine.find(job)
  if (!found) throw notFound(`job ${job}`)
  throw refuse('CONFLICT', { detail: `${rule} Job ${job} is ${found.state}.` })
}
