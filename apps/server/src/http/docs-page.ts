/**
 * /openapi.json and the page at /docs that is made from it, where whoever comes to / ends up: three files of our own, no script of anybody else, under a policy that allows none.
 */
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

const files = [
  { url: '/docs', file: 'docs.html', kind: 'text/html; charset=utf-8' },
  { url: '/docs/docs.css', file: 'docs.css', kind: 'text/css; charset=utf-8' },
  { url: '/docs/docs.js', file: 'docs.js', kind: 'text/javascript; charset=utf-8' },
] as const

export function addDocs(app: FastifyInstance): void {
  let description: string | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    description ??= JSON.stringify(app.swagger())
    return reply.type('application/json; charset=utf-8').serializer(String).send(description)
  })
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs'))
  for (const { url, file, kind } of files) {
    const text = readFileSync(new URL(`../../pages/${file}`, import.meta.url), 'utf8')
    app.get(url, { schema: { hide: true } }, async (_request, reply) => reply.type(kind).serializer(String).send(text))
  }
}
