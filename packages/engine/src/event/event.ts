/**
 * An event: the registered name of something that happened, with its schema.
 *
 * Calling an event makes a request to publish it: `studyClosed({ id })`. Nothing happens until the request is published or returned in
 * `done({ publish })`. Kinds subscribe with `on: [studyClosed]` and get its payload as their own.
 */
import { z } from 'zod'
import { encodePayload } from '../job/request.ts'
import { SluiceError } from '../support/errors.ts'
import { checkFields } from '../support/issue.ts'
import { checkOptions } from '../support/options.ts'
import { isNoSchema, parsePayload } from '../support/parse-payload.ts'
import { isStorable, nameField } from '../support/text.ts'

export interface EventDefinition<Schema extends z.ZodType> {
  /** Checked when the event is published; each subscriber checks it by its own schema as well. */
  readonly payload?: Schema
}

/** The part of an event that a request and a subscription need. */
export interface AnyEvent {
  readonly eventName: string
  check(payload: unknown): void
}

export interface EventType<Schema extends z.ZodType = z.ZodType> extends AnyEvent {
  (payload: z.input<Schema>, options?: EventOptions): EventRequest
}

export interface EventOptions {
  /** On whose behalf; the subscribers' jobs have the same owner. */
  readonly owner?: string
}

export interface EventRequest {
  /** Events that this process does not define are named by a string. */
  readonly event: AnyEvent | string
  readonly payload: unknown
  readonly options?: EventOptions
}

/** Where an event comes from when a job publishes it. */
export interface Origin {
  readonly job: number
  readonly run: number | undefined
  /** The event that brought the job about. */
  readonly cause: number | undefined
  /** W3C traceparent for the subscribers' jobs. */
  readonly trace?: string | undefined
}

/** A request that was checked: its name, and the row for the database as JSON text. */
export interface EncodedEvent {
  readonly event: string
  readonly row: string
}

const optionsSchema = z.strictObject({ owner: nameField.optional() })
const reserved = new Set(['run.completed', 'run.failed', 'run.canceled'])

export function defineEvent<Schema extends z.ZodType = z.ZodObject>(
  name: string,
  definition: EventDefinition<Schema> = {},
): EventType<Schema> {
  if (reserved.has(name))
    throw new SluiceError('INVALID_OPTION', {
      field: 'event',
      problem: `"${name}" is told by the engine; import runCompleted, runFailed or runCanceled`,
    })
  return makeEvent(name, definition)
}

/** Those of the engine itself are made here as well. */
export function makeEvent<Schema extends z.ZodType>(name: string, definition: EventDefinition<Schema>): EventType<Schema> {
  if (!/^[a-z][\w.-]{0,99}$/i.test(name))
    throw new SluiceError('INVALID_OPTION', {
      field: 'event',
      problem: `"${name}" is no name: letters, digits, dots, dashes and underscores, a letter first, at most 100`,
    })
  checkOptions(name, definition, ['payload'])
  const schema = definition.payload ?? z.looseObject({})
  if (!(schema instanceof z.ZodType)) throw new SluiceError('INVALID_OPTION', { field: `${name}.payload`, problem: isNoSchema })
  const check = (payload: unknown): void => void parsePayload(name, schema, payload)
  const request = (payload: z.input<Schema>, options?: EventOptions): EventRequest => ({
    event,
    payload,
    ...(options ? { options } : {}),
  })
  const event: EventType<Schema> = Object.defineProperty(Object.assign(request, { eventName: name, check }), 'name', {
    value: name,
  })
  return event
}

/** In plain JavaScript anything may come: an event that was not called, a job. */
export function nameOfEvent(request: EventRequest): string {
  const event: unknown = (request as EventRequest | undefined)?.event
  if (typeof event === 'string') return event
  if (typeof event === 'function' && 'eventName' in event && 'check' in event) return String(event.eventName)
  const problem = 'is nothing to publish; call an event, as in closed({ study }), or give { event, payload }'
  throw new SluiceError('INVALID_OPTION', { field: 'event', problem })
}

export function encodeEvent(
  request: EventRequest,
  limits: { payloadBytesMax: number },
  origin?: Origin | Pick<Origin, 'trace'>,
): EncodedEvent {
  const event = nameOfEvent(request)
  if (!isStorable(event)) throw new SluiceError('UNKNOWN_EVENT', { event })
  const payload = encodePayload(event, request.payload, limits.payloadBytesMax)
  // Checked as the subscribers will get it: a Date passes its schema here and comes back as text.
  if (typeof request.event !== 'string') request.event.check(JSON.parse(payload))
  const { owner } = readOptions(request.options ?? {})
  const rest = JSON.stringify({ type: event, owner, ...origin })
  return { event, row: `{"payload":${payload},${rest.slice(1)}` }
}

function readOptions(options: EventOptions): EventOptions {
  checkFields(optionsSchema, options)
  return options
}
