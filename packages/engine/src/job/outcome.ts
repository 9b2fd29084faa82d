/**
 * How an attempt ends, as a value the handler returns. Throwing means retry.
 */
import type { EventRequest } from '../event/event.ts'
import { type Duration, durationMsMax, toMs } from '../support/duration.ts'
import { SluiceError } from '../support/errors.ts'
import { checkOptions } from '../support/options.ts'
import type { TransactionClient } from './context.ts'
import type { JobRequest } from './request.ts'

/** Four digits of a year, as in a request. */
const dateMsMax = Date.UTC(9999, 11, 31)
/** The seconds of all times until 2286 are milliseconds of times before this. */
const secondsForMs = 10_000_000_000

export interface Done {
  readonly type: 'done'
  /** Runs inside the transaction that ends the job. What it writes is there exactly once, or not at all. */
  readonly write?: ((tx: TransactionClient) => Promise<unknown>) | undefined
  /** Jobs that come next: they exist if and only if this job succeeded. */
  readonly next?: readonly JobRequest[] | undefined
  /** What happened: these events, and the jobs of their subscribers, exist if and only if this job succeeded. */
  readonly publish?: readonly EventRequest[] | undefined
}

export type Outcome =
  | Done
  | { readonly type: 'retry'; readonly afterMs?: number; readonly error?: unknown }
  | { readonly type: 'snooze'; readonly afterMs?: number; readonly until?: Date }
  | { readonly type: 'fail'; readonly error: unknown }
  | { readonly type: 'cancel'; readonly reason?: string }

/** What each may say besides its type. */
const fields: Readonly<Record<Outcome['type'], readonly string[]>> = {
  done: ['write', 'next', 'publish'],
  retry: ['afterMs', 'error'],
  snooze: ['afterMs', 'until'],
  fail: ['error'],
  cancel: ['reason'],
}

export interface Consequence {
  readonly write?: Done['write']
  readonly next?: readonly JobRequest[] | false | null | undefined
  readonly publish?: readonly EventRequest[] | false | null | undefined
}

/** What a handler says that says nothing. All fields at once: objects of one shape are read faster. */
const finished: Outcome = { type: 'done', write: undefined, next: undefined, publish: undefined }

/** Finished. Say what to write, which jobs come next and what has happened by it; all of it commits together. */
export function done(consequence?: Consequence): Outcome {
  if (consequence === undefined) return finished
  // What is not understood would be forgotten, and the job would succeed without it.
  checkOptions('done', consequence, fields.done)
  const { write, next, publish } = consequence
  if (write && typeof write !== 'function')
    throw new SluiceError('INVALID_OPTION', { field: 'done.write', problem: 'is no function; give (tx) => tx.query(…)' })
  return { type: 'done', write: write || undefined, next: listOf('next', next), publish: listOf('publish', publish) }
}

function listOf<T>(field: string, list: readonly T[] | false | null | undefined): readonly T[] | undefined {
  if (!list) return undefined
  if (!Array.isArray(list))
    throw new SluiceError('INVALID_OPTION', { field: `done.${field}`, problem: 'is no list; put it into [ ]' })
  return list.length > 0 ? list : undefined
}

/** Try again, after the kind's own delay or after this one: `retry('10m')`. Counts as an attempt. */
export function retry(how: Duration | { after?: Duration; error?: unknown } = {}): Outcome {
  const options = typeof how === 'object' ? how : { after: how }
  checkOptions('retry', options, ['after', 'error'])
  return {
    type: 'retry',
    ...(options.after === undefined ? {} : { afterMs: toMs(options.after, 'after') }),
    ...(options.error === undefined ? {} : { error: options.error }),
  }
}

/** Not now: come back later, and do not count this as an attempt. */
export function snooze(when: Duration | Date): Outcome {
  if (!(when instanceof Date)) return { type: 'snooze', afterMs: toMs(when, 'snooze') }
  if (!isDate(when)) throw new SluiceError('INVALID_OPTION', { field: 'snooze', problem: `${String(when)} is not usable` })
  if (when.getTime() < secondsForMs)
    throw new SluiceError('INVALID_OPTION', {
      field: 'snooze',
      problem: `${when.toISOString()} has long passed; a Date takes milliseconds, so seconds want to be multiplied by 1000`,
    })
  return { type: 'snooze', until: when }
}

/** Trying again would not help. The job stays visible as failed. */
export function fail(error: unknown): Outcome {
  return { type: 'fail', error: error ?? 'no reason given' }
}

/** No longer wanted. */
export function cancel(reason?: string): Outcome {
  return { type: 'cancel', ...(reason === undefined ? {} : { reason }) }
}

/** What a handler returned. Nothing means done; what is no outcome is refused. */
export function readOutcome(returned: unknown, kind: string): Outcome {
  if (returned === undefined) return finished
  if (isOutcome(returned)) return returned
  throw new SluiceError('INVALID_OUTCOME', { kind, got: show(returned) })
}

function show(value: unknown): string {
  try {
    return JSON.stringify(value) ?? typeof value
  } catch {
    return typeof value
  }
}

/** Outcomes may be written by hand, so their fields are looked at as well: nonsense must not reach the statement that ends the job. */
export function isOutcome(value: unknown): value is Outcome {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false
  const { type, write, next, publish, afterMs, until, reason } = value as Record<string, unknown>
  const known = Object.hasOwn(fields, String(type)) ? fields[type as Outcome['type']] : undefined
  if (!known || Object.keys(value).some((field) => field !== 'type' && !known.includes(field))) return false
  switch (type) {
    case 'done':
      return (
        (write === undefined || typeof write === 'function') &&
        [next, publish].every((list) => list === undefined || Array.isArray(list))
      )
    case 'retry':
      return isDelay(afterMs)
    case 'snooze':
      return until === undefined ? isDelay(afterMs) : isDate(until)
    case 'fail':
      return true
    case 'cancel':
      return reason === undefined || typeof reason === 'string'
    default:
      return false
  }
}

function isDelay(ms: unknown): boolean {
  return ms === undefined || (typeof ms === 'number' && ms >= 0 && ms <= durationMsMax)
}

function isDate(value: unknown): boolean {
  return value instanceof Date && value.getTime() >= 0 && value.getTime() <= dateMsMax
}
