/**
 * Export: what was collected of a user, as a file. It is sent while it is read, so that its size costs no memory; a reader who stops reading stops the
 * reading, and one that breaks off in the middle ends without its last chunk, so that nobody takes it for whole.
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { exportable, exportFormats } from '@sluice/collector'
import { z } from 'zod'
import { byId } from '../fields.ts'
import { notFound } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'

const types = { jsonl: 'application/x-ndjson', csv: 'text/csv' } as const

export function addExportRoute(add: AddRoute, { collector }: Ground): void {
  add({
    method: 'GET',
    url: '/api/users/:id/export',
    action: 'exports.read',
    tag: 'users',
    summary: 'What was collected of a user, as JSON Lines or CSV',
    params: byId,
    query: z.strictObject({
      what: z.enum(exportable),
      format: z.enum(exportFormats).exactOptional().describe('jsonl when left out.'),
    }),
    answers: { 200: z.string().describe(`${types.jsonl} or ${types.csv}, with a file name`) },
    refuses: [404],
    handle: async ({ params, query: { what, format = 'jsonl' }, request, reply }) => {
      const user = await collector.users.find(params.id)
      if (!user) throw notFound(`user ${params.id}`)
      const parts = collector.export(user.id, what, format)[Symbol.asyncIterator]()
      // What goes wrong before the first part can still be answered properly.
      const first = await parts.next()
      reply.hijack()
      const name = `${user.login.replaceAll(/[^\w-]/g, '_')}-${what}.${format}`
      reply.raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': `${types[format]}; charset=utf-8`,
        'content-disposition': `attachment; filename="${name}"`,
      })
      await send(reply.raw, first, parts).catch((error: unknown) => {
        request.log.error({ err: error, user: user.id, what }, 'export broken off')
        reply.raw.destroy()
      })
      return answer(200, '')
    },
  })
}

async function send(to: ServerResponse, first: IteratorResult<string>, parts: AsyncIterator<string>): Promise<void> {
  const closed = new AbortController()
  to.once('close', () => closed.abort())
  try {
    for (let part = first; !part.done && !closed.signal.aborted; part = await parts.next())
      if (!to.write(part.value)) await once(to, 'drain', { signal: closed.signal })
    to.end()
  } catch (error) {
    if (!closed.signal.aborted) throw error
  } finally {
    await parts.return?.()
  }
}
