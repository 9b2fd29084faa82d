/**
 * A route is data: address, role, schemas, the statuses it can answer. What validates is what is documented, and what every route of its sort
 * has in common (who may, how bodies are refused, what happens when the database is away) is said here once.
 */
import type { TransactionClient } from '@sluice/engine'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { z } from 'zod'
import { type Action, requiredRole } from '../access/actions.ts'
import type { Caller } from '../access/caller.ts'
import type { Guard } from './guard.ts'
import { explainError, problemSchema } from './problem.ts'
import type { Kept, Replays } from './replay.ts'

type Answers = Readonly<Record<number, z.ZodType>>

/** What a route gets: everything is checked. */
export interface Asked<P, Q, B, A extends Answers> {
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly caller: Caller
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** For routes that add something: the addition and its answer commit together, so that a repetition finds both or neither. */
  readonly settle: (add: (client: TransactionClient | undefined) => Promise<Answer<A>>) => Promise<Answer<A>>
}

/** What is answered may be read-only all the way down; schemas do not say so. */
type Readable<T> = T extends Date
  ? T
  : T extends readonly (infer E)[]
    ? readonly Readable<E>[]
    : T extends object
      ? { readonly [K in keyof T]: Readable<T[K]> }
      : T

export interface Answered<S, B> {
  readonly status: S
  readonly body: B
  readonly headers: Readonly<Record<string, string>>
}

export type Answer<A extends Answers> = { [S in keyof A]: Answered<S, Readable<z.output<A[S]>>> }[keyof A]

export function answer<S extends number, const B>(
  status: S,
  body: B,
  headers: Readonly<Record<string, string>> = {},
): Answered<S, B> {
  return { status, body, headers }
}

export const tags = {
  jobs: 'Units of work: look at them, add them, steer them.',
  runs: 'Trees of jobs with one start and one completion.',
  lanes: 'What budgets, concurrency and pauses are counted against.',
  owners: 'On whose behalf jobs run; a pause spans all of their lanes.',
  pools: 'Named concurrency of workers.',
  kinds: 'What jobs do.',
  workers: 'Processes that work, and the one that leads.',
  schedules: 'Cron expressions that enqueue jobs.',
  published: 'Events: what happened, and who subscribes.',
  users: 'GitHub accounts whose activity is collected, and their collections.',
  statistics: 'How users score.',
  overview: 'The state of everything, and live updates.',
  access: 'Keys, sign-in, audit.',
  health: 'For probes and scrapers.',
} as const

export interface Route<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends Answers> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  /** What the caller has to be allowed to do; `anyone` is not asked who they are. */
  readonly action: Action | 'anyone'
  readonly tag: keyof typeof tags
  readonly summary: string
  readonly description?: string
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly answers: A
  /** Beside what all routes of its sort can answer. */
  readonly refuses?: readonly (401 | 403 | 404 | 409 | 429)[]
  /** POST only: whether a repetition with the same Idempotency-Key gets the first answer. Not where the answer is a secret. Default true. */
  readonly replay?: boolean
  /** What the audit log says it was done to, where the address does not say it. */
  readonly target?: (asked: { readonly body: z.output<B> }) => string
  /** Does without the database. */
  readonly offline?: boolean
  readonly handle: (asked: Asked<z.output<P>, z.output<Q>, z.output<B>, A>) => Promise<Answer<A>>
}

export type AddRoute = <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends Answers>(
  route: Route<P, Q, B, A>,
) => void

const keyHeader = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible characters, without spaces')
    .optional()
    .describe(
      'A repetition with the same key gets the first answer, for 24 hours, and does nothing. Take a new one for each request.',
    ),
})

export function routeAdder(app: FastifyInstance, guard: Guard, replays: Replays): AddRoute {
  return (route) => {
    const { method, url, action, tag, summary, description, params, query, body, answers } = route
    const replayed = method === 'POST' && route.replay !== false
    const schema: FastifySchema & Record<string, unknown> = {
      summary,
      tags: [tag],
      ...(description === undefined ? {} : { description }),
      ...(action === 'anyone' ? { security: [] } : { 'x-role': requiredRole(action) }),
      ...(params ? { params } : {}),
      ...(query ? { querystring: query } : {}),
      ...(body ? { body } : {}),
      ...(replayed ? { headers: keyHeader } : {}),
      response: { ...answers, ...problems(statusesOf(route, replayed)) },
    }
    app.route({
      method,
      url,
      exposeHeadRoute: false,
      schema,
      ...(action === 'anyone' ? {} : { onRequest: guard.admit(action) }),
      handler: async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
        const caller = guard.callerOf(request)
        const write = (given: Answer<typeof answers>): Kept => writeAnswer(answers, given)
        const asked = {
          params: request.params as never,
          query: request.query as never,
          body: request.body as never,
          caller,
          request,
          reply,
          settle: (add: (client: TransactionClient | undefined) => Promise<Answer<typeof answers>>) =>
            replays.settle(request, { add, write }),
        }
        const act = audited(guard, route, asked)
        const given = replayed ? await replays.once(request, caller, { act, write }) : await act()
        if (reply.sent) return reply
        const { status, headers, text } = 'replayed' in given ? given.replayed : write(given)
        return reply
          .code(status)
          .headers({ 'content-type': 'application/json; charset=utf-8', ...headers })
          .serializer(asIs)
          .send(text)
      },
    })
  }
}

/** Every change is written down, with how it ended. A request that was repeated changes nothing, so it is not. */
function audited<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends Answers>(
  guard: Guard,
  { method, action, target, handle }: Route<P, Q, B, A>,
  asked: Asked<z.output<P>, z.output<Q>, z.output<B>, A>,
): () => Promise<Answer<A>> {
  if (method === 'GET' || action === 'anyone') return () => handle(asked)
  return async () => {
    const deed = { action, target: target?.(asked) }
    try {
      const given = await handle(asked)
      await guard.record(asked.request, { ...deed, outcome: 'done', detail: { requestId: asked.request.id } })
      return given
    } catch (error) {
      const { code } = explainError(error)
      await guard.record(asked.request, { ...deed, outcome: 'failed', detail: { code, requestId: asked.request.id } })
      throw error
    }
  }
}

/** Checked and stripped by the schema that is documented, so that nothing leaves that nobody declared. */
function writeAnswer(answers: Answers, given: Answered<unknown, unknown>): Kept {
  const status = Number(given.status)
  const schema = answers[status]
  const body: unknown = schema ? z.encode(schema, given.body) : undefined
  return { status, headers: given.headers, text: typeof body === 'string' ? body : JSON.stringify(body) }
}

const asIs = (text: unknown): string => String(text)

/** What it can refuse with, by the sort of route it is. */
function statusesOf(
  {
    method,
    action,
    params,
    query,
    body,
    refuses = [],
    offline,
  }: Omit<Route<z.ZodType, z.ZodType, z.ZodType, Answers>, 'handle' | 'target'>,
  replayed: boolean,
): Set<number> {
  const writes = method !== 'GET'
  return new Set<number>([
    ...(action === 'anyone' ? [] : [401, 403, 429]),
    ...(writes ? [400, 413, 415] : []),
    ...(params || query || body || replayed ? [422] : []),
    ...(replayed ? [409] : []),
    ...(offline ? [] : [503, 504]),
    ...refuses,
  ])
}

const reasons: Readonly<Record<number, string>> = {
  400: 'The body is no JSON.',
  401: 'No key, or one that is not valid.',
  403: 'The key does not allow this, or the request comes from another site.',
  404: 'There is no such thing.',
  409: 'Not in this state, or the first request with this Idempotency-Key is still under way.',
  413: 'The body is too large.',
  415: 'The body is not sent as application/json.',
  422: 'Some fields are not usable; `errors` names them.',
  429: 'Too many wrong keys from this address.',
  503: 'The database is away or busy, and Retry-After says when to try again; or its role lacks a right.',
  504: 'It took too long.',
}

function problems(statuses: ReadonlySet<number>): Record<number, unknown> {
  return Object.fromEntries(
    [...statuses].map((status) => [
      status,
      { description: reasons[status] ?? 'Refused.', content: { 'application/problem+json': { schema: problemSchema } } },
    ]),
  )
}
