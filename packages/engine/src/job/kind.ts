/**
 * A kind: the registered name of what a job does, with its schema, handler and policies.
 *
 * Calling a kind makes a request for a job of it: `sendMail({ to })`. Nothing happens until the request is enqueued or returned as `next`.
 */
import { z } from 'zod'
import type { AnyEvent } from '../event/event.ts'
import { type Duration, durationField, toMs } from '../support/duration.ts'
import { SluiceError } from '../support/errors.ts'
import { checkFields } from '../support/issue.ts'
import { isNoSchema, parsePayload } from '../support/parse-payload.ts'
import { nameField } from '../support/text.ts'
import type { JobContext } from './context.ts'
import type { Outcome } from './outcome.ts'
import {
  checkParts,
  type DedupeMode,
  dedupeModes,
  type JobOptions,
  type JobRequest,
  laneName,
  type RequestKind,
} from './request.ts'
import { exponential, isRetryPolicy, type RetryPolicy } from './retry.ts'

export interface KindDefinition<Schema extends z.ZodType, Services> {
  /** Checked when a job is enqueued and again when it runs. */
  readonly payload?: Schema
  /** Named concurrency in a worker process. Default `light`. */
  readonly pool?: string
  readonly priority?: number
  readonly retry?: RetryPolicy
  /** How long one attempt may run. Default ten minutes. */
  readonly timeout?: Duration
  /** What happens to a second job with the same key while the first is active. Default: nothing, both run. */
  readonly dedupe?: DedupeMode
  /** The key of a payload. Default: made of owner and payload. */
  readonly key?: (payload: z.input<Schema>) => string
  readonly uniqueFor?: Duration
  /** What budget, concurrency and pauses are counted against: a name, in which `{owner}` stands for the owner, or a function. Default: the open lane. */
  readonly lane?: string | ((job: { payload: z.input<Schema>; owner: string | undefined }) => string | undefined)
  /** Permits of its lane that one attempt takes. Default 1. */
  readonly cost?: number | ((payload: z.input<Schema>) => number)
  /** After so many failures in a row no job of this kind starts for a while; then one finds out. The kind gets a lane of its own for it. */
  readonly breaker?: { readonly after: number; readonly cooldown: Duration }
  /** Events that this kind subscribes to: each becomes a job with the event's payload and owner. */
  readonly on?: readonly AnyEvent[]
  /** A module whose default export runs in a process of its own, for work that would block this one. Its answer comes from `compute()`. */
  readonly module?: URL
  readonly run?: (context: JobContext<z.output<Schema>>, services: Services) => Promise<Outcome | void> | Outcome | void
}

export interface Kind<Schema extends z.ZodType = z.ZodType, Services = unknown> extends RequestKind {
  (payload: z.input<Schema>, options?: JobOptions): JobRequest
  readonly kindName: string
  readonly pool: string
  readonly priority: number
  readonly retry: RetryPolicy
  readonly timeoutMs: number
  readonly dedupe: DedupeMode | undefined
  readonly uniqueForMs: number | undefined
  readonly lane: string | undefined
  readonly cost: number
  readonly breaker: { readonly after: number; readonly cooldownMs: number } | undefined
  /** What each job has to bring because the database cannot work it out: the answers of functions, or the run it is part of. */
  readonly asks: readonly string[]
  /** Names of the events it subscribes to. */
  readonly on: readonly string[]
  readonly module: URL | undefined
  readonly parse: (payload: unknown) => z.output<Schema>
  readonly run: (context: JobContext<z.output<Schema>>, services: Services) => Promise<Outcome | void> | Outcome | void
}

// oxlint-disable-next-line typescript/no-explicit-any -- a list of kinds holds every schema and every set of services
export type AnyKind = Kind<any, any>

/** What the handlers of these kinds ask for, all together. One that takes anything asks for nothing. */
// oxlint-disable-next-line typescript/no-explicit-any -- the schema of a kind says nothing about its services
export type ServicesOf<K extends AnyKind> = (K extends Kind<any, infer S> ? (asked: Asked<S>) => void : never) extends (
  asked: infer All,
) => void
  ? All
  : unknown

type Asked<S> = 0 extends 1 & S ? unknown : S

/** Handlers that ask for something have to be given it; those that ask for nothing may be. */
export type GivenServices<Services> = object extends Services ? { services?: Services } : { services: Services }

const definitionSchema = z.strictObject({
  payload: z.custom<z.ZodType>((schema) => schema instanceof z.ZodType, isNoSchema).optional(),
  pool: nameField.default('light'),
  priority: z.int().min(-1000).max(1000).default(0),
  retry: z.custom<RetryPolicy>(isRetryPolicy, 'is no policy; use exponential(), delays() or once').optional(),
  timeout: durationField.default('10m'),
  dedupe: z.enum(dedupeModes).optional(),
  key: z.function().optional(),
  uniqueFor: durationField.optional(),
  lane: z.union([laneName, z.function()]).optional(),
  cost: z.union([z.int().min(1).max(30_000), z.function()]).optional(),
  breaker: z.strictObject({ after: z.int().min(1).max(10_000), cooldown: durationField }).optional(),
  on: z
    .array(
      z.custom<AnyEvent>((event) => typeof event === 'function' && 'eventName' in event, 'is no event; make it with defineEvent'),
    )
    .optional(),
  module: z.instanceof(URL).optional(),
  run: z.function().optional(),
})

/** A kind that is only named is asked all the same if it is known here: what it refuses is refused now, and its lane and cost are its own. */
export function askKind(request: JobRequest, kinds: ReadonlyMap<string, AnyKind>): JobRequest {
  const kind = typeof (request as JobRequest | undefined)?.kind === 'string' ? kinds.get(request.kind as string) : undefined
  if (!kind) return request
  checkParts(request)
  return kind(request.payload, request.options)
}

export function defineKind<Schema extends z.ZodType = z.ZodObject, Services = unknown>(
  name: string,
  definition: KindDefinition<Schema, Services>,
): Kind<Schema, Services> {
  if (typeof name !== 'string' || !/^[a-z][\w.-]{0,99}$/i.test(name))
    throw new SluiceError('INVALID_OPTION', {
      field: 'kind',
      problem: `${typeof name === 'string' ? `"${name}"` : `of type ${typeof name}`} is no name: letters, digits, dots, dashes and underscores, a letter first, at most 100`,
    })
  const { pool, priority } = checkFields(definitionSchema, definition, name)
  if (definition.dedupe === 'once' && definition.uniqueFor !== undefined)
    throw new SluiceError('INVALID_OPTION', {
      field: `${name}.uniqueFor`,
      problem: 'goes with no dedupe once: the run is its window',
    })
  const timeoutMs = toMs(definition.timeout ?? '10m', `${name}.timeout`)
  if (timeoutMs < 1) throw new SluiceError('INVALID_OPTION', { field: `${name}.timeout`, problem: 'no attempt ends in no time' })
  const run = definition.run ?? (definition.module && runModule)
  if (!run) throw new SluiceError('INVALID_OPTION', { field: `${name}.run`, problem: 'a kind needs `run` or `module`' })
  const schema = definition.payload ?? z.looseObject({})
  const parse = (payload: unknown): z.output<Schema> => parsePayload(name, schema, payload) as z.output<Schema>
  /** Without an answer the job would have another key or cost than its kind promises. */
  const answered = <Answer>(field: string, answer: Answer): Answer => {
    if (answer !== undefined) return answer
    throw new SluiceError('INVALID_OPTION', { field: `${name}.${field}`, problem: 'answered nothing for this payload' })
  }
  const asks = functionsOf(definition)
  const request = (payload: z.input<Schema>, options?: JobOptions): JobRequest => {
    if (options === undefined && asks.length === 0) return { kind, payload }
    const key = options?.key ?? (definition.key && answered('key', definition.key(payload)))
    const lane =
      options?.lane ?? (typeof definition.lane === 'function' ? definition.lane({ payload, owner: options?.owner }) : undefined)
    const cost = options?.cost ?? (typeof definition.cost === 'function' ? answered('cost', definition.cost(payload)) : undefined)
    const asked = asks.length > 0 ? { asked: true as const } : {}
    if (key === undefined && lane === undefined && cost === undefined)
      return { kind, payload, ...(options ? { options } : {}), ...asked }
    const own = {
      ...(key === undefined ? {} : { key }),
      ...(lane === undefined ? {} : { lane }),
      ...(cost === undefined ? {} : { cost }),
    }
    return { kind, payload, options: { ...options, ...own }, ...asked }
  }
  const breaker = definition.breaker && {
    after: definition.breaker.after,
    cooldownMs: toMs(definition.breaker.cooldown, `${name}.breaker.cooldown`),
  }
  if (breaker && definition.lane !== undefined)
    throw new SluiceError('INVALID_OPTION', {
      field: `${name}.breaker`,
      problem: 'a kind in a lane takes the breaker of the lane: give it in `lanes`',
    })
  const kind: Kind<Schema, Services> = Object.defineProperty(
    Object.assign(request, {
      kindName: name,
      pool,
      priority,
      retry: definition.retry ?? exponential(),
      timeoutMs,
      dedupe: definition.dedupe,
      uniqueForMs: definition.uniqueFor === undefined ? undefined : toMs(definition.uniqueFor, `${name}.uniqueFor`),
      lane: typeof definition.lane === 'string' ? definition.lane : breaker && `kind:${name}`,
      cost: typeof definition.cost === 'number' ? definition.cost : 1,
      breaker,
      asks,
      on: subscriptions(name, definition),
      module: definition.module,
      parse,
      check: (payload: unknown) => void parse(payload),
      run,
    }),
    'name',
    { value: name },
  )
  return kind
}

function functionsOf({ key, lane, cost }: { key?: unknown; lane?: unknown; cost?: unknown }): string[] {
  return Object.entries({ key, lane, cost }).flatMap(([field, value]) => (typeof value === 'function' ? [field] : []))
}

/** The database makes the jobs of subscribers, wherever the event comes from; it cannot call what was written for it in TypeScript. */
function subscriptions(
  name: string,
  {
    on = [],
    key,
    lane,
    cost,
    dedupe,
  }: { on?: readonly AnyEvent[]; key?: unknown; lane?: unknown; cost?: unknown; dedupe?: DedupeMode },
): string[] {
  const [called] = functionsOf({ key, lane, cost })
  if (on.length > 0 && called)
    throw new SluiceError('INVALID_OPTION', {
      field: `${name}.${called}`,
      problem: 'a kind with `on` cannot have a function here: the database makes its jobs. Let it enqueue another kind that has',
    })
  if (on.length > 0 && dedupe === 'once')
    throw new SluiceError('INVALID_OPTION', {
      field: `${name}.dedupe`,
      problem: 'jobs of events belong to no run, so none is once in it',
    })
  return [...new Set(on.map(({ eventName }) => eventName))]
}

async function runModule(context: JobContext<unknown>): Promise<void> {
  await context.compute()
}
