/**
 * A run: a tree of jobs with one start and one completion.
 *
 * `plan` is its first job and says, with `done({ next })`, what the run consists of; `finalize` is its last and starts when everything else
 * has ended, well or not. Both are jobs like any other: retried, visible, exactly once in what they write.
 */
import { z } from 'zod'
import type { JobContext } from '../job/context.ts'
import { type AnyKind, defineKind, type Kind, type KindDefinition } from '../job/kind.ts'
import type { Outcome } from '../job/outcome.ts'
import { encodePayload } from '../job/request.ts'
import { SluiceError } from '../support/errors.ts'
import { checkOptions } from '../support/options.ts'

/** What a finalizer gets: how the rest of its run ended. */
export interface RunSummary<P> {
  readonly run: number
  readonly payload: P
  readonly total: number
  readonly succeeded: number
  readonly failed: number
  readonly canceled: number
}

export interface RunDefinition<Schema extends z.ZodType, Services>
  extends Pick<KindDefinition<Schema, Services>, 'payload' | 'pool' | 'priority' | 'retry' | 'timeout'> {
  readonly plan: (context: JobContext<z.output<Schema>>, services: Services) => Promise<Outcome | void> | Outcome | void
  readonly finalize?: (
    context: JobContext<RunSummary<z.output<Schema>>>,
    services: Services,
  ) => Promise<Outcome | void> | Outcome | void
}

export interface RunRequest {
  /** Kinds that this process does not define are named by a string. */
  readonly kind: RunKind | string
  readonly payload: unknown
  readonly owner?: string | undefined
}

// oxlint-disable-next-line typescript/no-explicit-any -- a list of runs holds every set of services
export interface RunKind<Schema extends z.ZodType = z.ZodType, Services = any> {
  (payload: z.input<Schema>, options?: { owner?: string }): RunRequest
  readonly kindName: string
  // oxlint-disable-next-line typescript/no-explicit-any -- plan and finalizer have schemas of their own
  readonly kinds: readonly Kind<any, Services>[]
  readonly finalizer: string | undefined
}

/** The kind that ends runs of this name. */
export function finalizerOf(name: string): string {
  return `${name}.finalize`
}

export function defineRun<Schema extends z.ZodType = z.ZodObject, Services = unknown>(
  name: string,
  { plan, finalize, ...rest }: RunDefinition<Schema, Services>,
): RunKind<Schema, Services> {
  if (typeof plan !== 'function') {
    const problem = 'is missing; give a function that answers done({ next }) with the jobs of the run'
    throw new SluiceError('INVALID_OPTION', { field: `${name}.plan`, problem })
  }
  const root: Kind<Schema, Services> = ofRun(defineKind(name, { ...rest, run: plan }), ['run'])
  const last = finalize && defineFinalizer<Schema, Services>(name, rest, finalize)
  const request = (payload: z.input<Schema>, options: { owner?: string } = {}): RunRequest => {
    checkOptions(name, options, ['owner'])
    root.parse(JSON.parse(encodePayload(name, payload, Number.POSITIVE_INFINITY)))
    return { kind, payload, owner: options.owner }
  }
  const kind: RunKind<Schema, Services> = Object.assign(request, {
    kindName: name,
    kinds: last ? [root, last] : [root],
    finalizer: last?.kindName,
  })
  return kind
}

function defineFinalizer<Schema extends z.ZodType, Services>(
  name: string,
  { payload, pool, priority, retry, timeout }: Omit<RunDefinition<Schema, Services>, 'plan' | 'finalize'>,
  finalize: NonNullable<RunDefinition<Schema, Services>['finalize']>,
): AnyKind {
  const count = z.int().min(0)
  const summary = z.object({
    run: count,
    payload: payload ?? z.looseObject({}),
    total: count,
    succeeded: count,
    failed: count,
    canceled: count,
  })
  const policies = { pool, priority, retry, timeout }
  const given = Object.fromEntries(Object.entries(policies).filter(([, value]) => value !== undefined))
  return ofRun(defineKind(finalizerOf(name), { ...given, payload: summary, run: finalize as never }) as AnyKind, ['run', 'end'])
}

/** A job of it belongs to a run: enqueued by itself it would plan jobs that nobody counts. */
function ofRun<K extends AnyKind>(kind: K, asks: readonly string[]): K {
  return Object.assign(kind, { asks })
}
