/**
 * Events of the engine: what was published, by whom, and what it caused. (Live updates of this API are at /api/events.)
 */
import { z } from 'zod'
import { byId, countInUrl, id, idInUrl, json, name } from '../fields.ts'
import { notFound } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'

const published = z
  .object({
    id,
    type: z.string(),
    payload: z.unknown(),
    owner: z.string().nullable(),
    cause: id.nullable().describe('The event whose job, or a child of it, published this one.'),
    depth: z.int().describe('How many causes came before it.'),
    job: id.nullable().describe('The job that published it.'),
    run: id.nullable(),
    publishedAt: z.date(),
  })
  .meta({ id: 'PublishedEvent' })

export function addPublishedRoutes(add: AddRoute, { engine, limits }: Ground): void {
  const tag = 'published'
  add({
    method: 'GET',
    url: '/api/published',
    action: 'events.read',
    tag,
    summary: 'List published events, newest first',
    query: z.strictObject({
      type: name.exactOptional(),
      owner: name.exactOptional(),
      before: idInUrl.exactOptional().describe('Older than this one: `next` of the page before.'),
      limit: countInUrl(1, limits.pageMax).exactOptional(),
    }),
    answers: { 200: z.object({ items: z.array(published), next: id.optional().describe('`before` of the next page.') }) },
    handle: async ({ query }) => {
      const { limit = 50, ...rest } = query
      const rows = await engine.events.list({ ...rest, limit: limit + 1 })
      const items = rows.slice(0, limit)
      const last = items.at(-1)
      return answer(200, rows.length > limit && last ? { items, next: last.id } : { items })
    },
  })
  add({
    method: 'GET',
    url: '/api/published/:id',
    action: 'events.read',
    tag,
    summary: 'Show a published event',
    params: byId,
    answers: { 200: published },
    refuses: [404],
    handle: async ({ params }) => {
      const found = await engine.events.find(params.id)
      if (!found) throw notFound(`event ${params.id}`)
      return answer(200, found)
    },
  })
  add({
    method: 'POST',
    url: '/api/published',
    action: 'events.publish',
    tag,
    summary: 'Publish an event; each subscriber gets a job for it',
    body: z.strictObject({ event: name, payload: json.exactOptional(), owner: name.exactOptional() }),
    answers: { 201: z.object({ id }) },
    handle: async ({ body: { event, payload = {}, owner }, settle }) =>
      settle(async (client) => {
        const request = { event, payload, ...(owner === undefined ? {} : { options: { owner } }) }
        const made = await engine.publish(request, client ? { client } : {})
        return answer(201, made, { location: `/api/published/${made.id}` })
      }),
  })
}
