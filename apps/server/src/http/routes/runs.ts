/**
 * Runs: started, looked at, stopped.
 */
import { z } from 'zod'
import { byId, id, json, listOf, name, nothing, paging, splitPage, text, withReason } from '../fields.ts'
import { notFound, refuse } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'
import { progress, run, runState, treeJob } from './run-schemas.ts'

export function addRunRoutes(add: AddRoute, { engine }: Ground): void {
  add({
    method: 'GET',
    url: '/api/runs',
    action: 'runs.read',
    tag: 'runs',
    summary: 'List runs, newest first',
    query: z.strictObject({
      kind: name.exactOptional(),
      owner: name.exactOptional(),
      state: z.union([runState, z.array(runState).min(1).max(7)]).exactOptional(),
      ...paging,
    }),
    answers: { 200: listOf(run) },
    handle: async ({ query }) => {
      const { filter, page } = splitPage(query)
      return answer(200, await engine.inspect.runs(filter, page))
    },
  })
  add({
    method: 'POST',
    url: '/api/runs',
    action: 'runs.start',
    tag: 'runs',
    summary: 'Start a run',
    description: 'One of a kind and owner at a time: 409 names the one that is under way.',
    body: z.strictObject({
      kind: name,
      payload: json.exactOptional(),
      owner: name.exactOptional(),
      trigger: text(200).exactOptional().describe('Who or what starts it. Default: the API.'),
    }),
    answers: { 201: run },
    refuses: [409],
    handle: async ({ body: { trigger = 'api', ...request }, settle }) =>
      settle(async (client) => {
        const started = await engine.runs.start({ payload: {}, ...request }, { trigger, ...(client ? { client } : {}) })
        return answer(201, started, { location: `/api/runs/${started.id}` })
      }),
  })
  const find = async (wanted: number) => {
    const found = await engine.runs.find(wanted)
    if (!found) throw notFound(`run ${wanted}`)
    return found
  }
  add({
    method: 'GET',
    url: '/api/runs/:id',
    action: 'runs.read',
    tag: 'runs',
    summary: 'Show a run',
    params: byId,
    answers: { 200: run },
    refuses: [404],
    handle: async ({ params }) => answer(200, await find(params.id)),
  })
  add({
    method: 'GET',
    url: '/api/runs/:id/tree',
    action: 'runs.read',
    tag: 'runs',
    summary: 'The jobs of a run',
    params: byId,
    query: z.strictObject(paging),
    answers: { 200: listOf(treeJob) },
    refuses: [404],
    handle: async ({ params, query }) => {
      await find(params.id)
      return answer(200, await engine.inspect.runTree(params.id, query))
    },
  })
  add({
    method: 'GET',
    url: '/api/runs/:id/progress',
    action: 'runs.read',
    tag: 'runs',
    summary: 'How far a run is, and when it is expected to end',
    params: byId,
    answers: { 200: progress },
    refuses: [404],
    handle: async ({ params }) => {
      const found = await engine.inspect.runProgress(params.id)
      if (!found) throw notFound(`run ${params.id}`)
      return answer(200, found)
    },
  })
  add({
    method: 'POST',
    url: '/api/runs/:id/cancel',
    action: 'runs.cancel',
    tag: 'runs',
    summary: 'Cancel a run and its jobs',
    params: byId,
    body: withReason,
    answers: { 200: z.object({ id }) },
    refuses: [404, 409],
    handle: async ({ params, body }) => {
      const verdict = await engine.runs.cancel(params.id, body?.reason)
      if (verdict === 'unknown') throw notFound(`run ${params.id}`)
      if (verdict === 'not active')
        throw refuse('CONFLICT', { detail: `Run ${params.id} has ended. Only runs that are under way are canceled.` })
      return answer(200, { id: params.id })
    },
  })
  add({
    method: 'POST',
    url: '/api/runs/:id/retry-failed',
    action: 'runs.retry',
    tag: 'runs',
    summary: 'Run the failed jobs of a run again',
    params: byId,
    body: nothing,
    answers: { 200: z.object({ retried: z.int() }) },
    refuses: [404],
    handle: async ({ params }) => {
      const retried = await engine.runs.retryFailed(params.id)
      if (retried === 0) await find(params.id)
      return answer(200, { retried })
    },
  })
}
