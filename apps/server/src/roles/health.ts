/**
 * The small address of a worker or scheduler: `/livez`, `/readyz` and `/metrics`, for probes and scrapers. Without Fastify, which these roles do
 * not need.
 *
 * Probes carry no keys, so the first two answer anybody and say no more than yes or no to strangers. Metrics ask for what the API asks for.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Engine } from '@sluice/engine'
import type { Access } from '../access/access.ts'
import { securityHeaders } from '../access/security-headers.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

export interface HealthParts {
  readonly engine: Engine
  readonly access: Access
  readonly telemetry: Telemetry
}

const requestMsMax = 10_000
const headerBytesMax = 8_192

export function createHealth(parts: HealthParts): Server {
  const options = { maxHeaderSize: headerBytesMax, requestTimeout: requestMsMax, headersTimeout: requestMsMax }
  return createServer(options, (request, response) => {
    answer(request, response, parts).catch((error: unknown) => {
      parts.telemetry.log.error({ err: error }, 'health request failed')
      send(response, 500, { error: 'the log has the reason' })
    })
  })
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { engine, access, telemetry }: HealthParts,
): Promise<void> {
  request.resume()
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return send(response, 405, { error: 'use GET' }, { allow: 'GET, HEAD' })
  const path = request.url?.split('?')[0]
  if (path === '/livez') return send(response, 200, { alive: true })
  if (path !== '/readyz' && path !== '/metrics') return send(response, 404, { error: 'there are /livez, /readyz and /metrics' })
  const caller = await access
    .authenticate({ headers: request.headers, remoteAddress: request.socket.remoteAddress })
    .catch(() => undefined) // the database is away: nobody can be told apart
  const mayRead = caller !== undefined && !('status' in caller) && access.allows(caller, 'read')
  if (path === '/readyz') {
    const { ready, problems } = engine.status()
    return send(response, ready ? 200 : 503, { ready, ...(mayRead ? { problems } : {}) })
  }
  if (!mayRead) {
    const refused = caller && 'status' in caller ? caller : { status: 503, code: 'DATABASE_UNREACHABLE', detail: 'try again' }
    return send(response, refused.status, { code: refused.code, detail: refused.detail })
  }
  const { contentType, text } = await telemetry.metrics(engine)
  response.writeHead(200, { ...securityHeaders, 'content-type': contentType }).end(text)
}

function send(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  if (response.headersSent) return
  response
    .writeHead(status, { ...securityHeaders, 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
    .end(JSON.stringify(body))
}
