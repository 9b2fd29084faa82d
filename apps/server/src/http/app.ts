/**
 * The HTTP API: builds the app from its parts. It listens nowhere by itself.
 *
 * Read from the top: limits, what every answer carries, who refuses how, then the routes, one file a noun.
 */
import { randomUUID } from 'node:crypto'
import type { Collector } from '@sluice/collector'
import { type Clock, type Engine, systemClock } from '@sluice/engine'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import type { Access } from '../access/access.ts'
import { securityHeaders } from '../access/security-headers.ts'
import { answerUnread } from './bad-request.ts'
import { addDocs } from './docs-page.ts'
import { Guard } from './guard.ts'
import { defaultLimits, type HttpLimits } from './limits.ts'
import { LiveConnections } from './live/connections.ts'
import { Feed } from './live/feed.ts'
import { Methods } from './methods.ts'
import { describe } from './openapi.ts'
import { explainError, headersOf, refuse, toProblem } from './problem.ts'
import { Replays } from './replay.ts'
import { routeAdder } from './route.ts'
import { addRoutes } from './routes/all.ts'
import type { HttpTelemetry } from './routes/ground.ts'

export interface HttpConfig {
  /** What differs from `defaultLimits`. */
  readonly limits?: Partial<HttpLimits>
  readonly version?: string
  readonly clock?: Clock
}

export interface HttpParts {
  readonly engine: Engine
  readonly collector: Collector
  readonly access: Access
  readonly telemetry: HttpTelemetry
  readonly config?: HttpConfig
}

export async function createHttp({ engine, collector, access, telemetry, config = {} }: HttpParts): Promise<FastifyInstance> {
  const limits = { ...defaultLimits, ...config.limits }
  const clock = config.clock ?? systemClock
  const app = fastify({
    loggerInstance: telemetry.log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    bodyLimit: limits.bodyBytesMax,
    handlerTimeout: limits.answerMsMax,
    requestTimeout: limits.requestMsMax,
    keepAliveTimeout: limits.keepAliveMsMax,
    http: {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersMsMax,
      connectionsCheckingInterval: Math.min(1_000, limits.headersMsMax),
    },
    routerOptions: { maxParamLength: 1_000 },
    frameworkErrors: (error, request, reply) => void sendProblem(error, request, reply as FastifyReply),
    clientErrorHandler: answerUnread,
    forceCloseConnections: 'idle',
  }) as unknown as FastifyInstance
  app.server.maxConnections = limits.connectionsMax
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  readJsonOnly(app)

  const methods = new Methods()
  methods.watch(app)
  const guard = new Guard(access)
  const live = new LiveConnections(new Feed(engine, clock, limits.liveEventsMax), clock, limits)
  const replays = new Replays(engine, limits)

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(commonHeaders(request))
    if (request.url.length > limits.urlCharsMax) throw refuse('URL_TOO_LONG')
  })
  app.addHook('onResponse', async (request, reply) => tell(request, reply, guard))
  // Whoever is being answered while we leave would otherwise keep the connection, and us, for as long as connections may be silent.
  let leaving = false
  app.addHook('onSend', async (_request, reply) => void (leaving && reply.header('connection', 'close')))
  app.addHook('preClose', async () => {
    leaving = true
    live.close()
  })
  app.setErrorHandler(sendProblem)
  app.setNotFoundHandler((request, reply) => {
    const allow = methods.of(request.url.split('?')[0] ?? '').join(', ')
    return sendProblem(allow ? wrongMethod(request, allow) : refuse('UNKNOWN_ROUTE'), request, reply)
  })

  await describe(app, config.version ?? '0.1.0')
  addRoutes(routeAdder(app, guard, replays), { engine, collector, access, telemetry, limits, live, guard })
  addDocs(app)
  await app.ready()
  return app
}

function wrongMethod({ method }: FastifyRequest, allow: string): Error {
  return refuse('METHOD_NOT_ALLOWED', { detail: `${method} does nothing here. Use ${allow}.`, allow })
}

async function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const refused = explainError(error)
  if (refused.unexpected) request.log.error({ err: error, method: request.method }, 'request failed')
  return reply
    .code(refused.row.status)
    .headers({ ...commonHeaders(request), ...headersOf(refused) })
    .serializer(JSON.stringify)
    .send(toProblem(refused, request.id))
}

/** One line a request. Probes and scrapers come every few seconds, so theirs are for those who look closely. */
function tell(request: FastifyRequest, reply: FastifyReply, guard: Guard): void {
  const route = request.routeOptions.url ?? 'none'
  const line = {
    method: request.method,
    route,
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime),
    caller: guard.callerOf(request).id,
  }
  if (route.startsWith('/api')) request.log.info(line, 'request answered')
  else request.log.debug(line, 'request answered')
}

function commonHeaders({ id }: FastifyRequest): Record<string, string> {
  return { ...securityHeaders, 'request-id': id, 'cache-control': 'no-store' }
}

/** Bodies are JSON, or nothing at all. */
function readJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined)
    else void parse(request, body as string, done)
  })
}
