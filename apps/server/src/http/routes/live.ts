/**
 * Live updates: Server-Sent Events that say what changed, so that a page knows when to look again.
 */
import { z } from 'zod'
import { refuse } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'

export function addLiveRoute(add: AddRoute, { live }: Ground): void {
  add({
    method: 'GET',
    url: '/api/events',
    action: 'changes.watch',
    tag: 'overview',
    summary: 'Live updates as Server-Sent Events',
    description:
      'Each event has the topic as its name (`jobs`, `runs`, `lanes`, `workers`, `schedules`, `events`) and says what to look at again. The first one is `hello`. Whoever comes back with Last-Event-ID ' +
      'gets what was missed, or one `reset` when that is not known any more: load everything again.',
    answers: { 200: z.string().describe('text/event-stream') },
    handle: async ({ request, reply }) => {
      if (live.full) throw refuse('LIVE_FULL')
      const lastId = request.headers['last-event-id']
      reply.hijack()
      reply.raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
      })
      live.add(reply.raw, typeof lastId === 'string' ? lastId.slice(0, 100) : undefined)
      return answer(200, '')
    },
  })
}
