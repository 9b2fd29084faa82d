/**
 * The description of the API (OpenAPI 3.1), made from the schemas that validate. It is made once, when the app is ready, and served as text.
 */
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { refusals } from '../access/refusal.ts'
import { collectorProblems, engineProblems, httpProblems } from './problem-table.ts'
import { tags } from './route.ts'

const intro = `What the command line does, over HTTP.

Errors are \`application/problem+json\` (RFC 9457) with a \`code\` that never changes and a \`detail\` that says what to do. Lists come in pages: pass \`next\` of one as \`cursor\`
of the following. Times are ISO 8601 in UTC, ids are whole numbers below 2⁵³. A POST may carry an \`Idempotency-Key\`. Before a route is found, any request can be
answered with 400 (no HTTP), 404 (no such address), 405 (with Allow), 408 (too slow), 414 or 431 (address or headers too long).`

export async function describe(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Sluice', version, description: intro, license: { name: 'MIT', identifier: 'MIT' } },
      servers: [{ url: '/' }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          key: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key, `sluice_<id>_<secret>`. On this machine none is needed unless configured.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'sluice',
            description: 'The cookie of somebody who signed in to the dashboard.',
          },
        },
      },
      security: [{ key: [] }, { session: [] }],
      'x-problems': problemList(),
    } as object,
    transform: jsonSchemaTransform,
    transformObject: (document) => tidy(jsonSchemaTransformObject(document) as unknown as Document) as never,
  })
}

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly anyOf?: readonly { readonly type?: string }[] } }>>
  }
}

/** Every schema comes as it goes in and as it comes out; those that no route speaks of are left out. A body that may be null need not be sent. */
function tidy(document: Document): Document {
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, withBody(operation)])),
    ]),
  )
  const used = new Set<string>()
  const visit = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      visit(document.components.schemas[name])
    }
  }
  visit(paths)
  const schemas = Object.fromEntries(Object.entries(document.components.schemas).filter(([name]) => used.has(name)))
  return { ...document, paths, components: { ...document.components, schemas } }
}

function withBody(operation: Operation): Operation {
  const schema = operation.requestBody?.content['application/json']?.schema
  const optional = schema?.anyOf?.some(({ type }) => type === 'null') ?? false
  return operation.requestBody
    ? { ...operation, requestBody: { ...operation.requestBody, required: !optional } as never }
    : operation
}

/** Every code with its status, for the page that explains them. */
function problemList(): readonly { code: string; status: number; title: string; detail?: string }[] {
  const all: Record<string, { status: number; title: string; detail?: string }> = {
    ...engineProblems,
    ...collectorProblems,
    ...refusals,
    ...httpProblems,
  }
  return Object.entries(all)
    .filter(([, { status }]) => status !== 500)
    .map(([code, { status, title, detail }]) => ({ code, status, title, ...(detail === undefined ? {} : { detail }) }))
    .toSorted((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1))
}
