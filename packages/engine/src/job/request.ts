/**
 * A request for a job: what a kind makes when it is called, and what enqueue takes. Checked here, at the door.
 */
import { z } from 'zod'
import { type Duration, durationField, toMs } from '../support/duration.ts'
import { SluiceError } from '../support/errors.ts'
import { checkFields } from '../support/issue.ts'
import { isStorable, isStorableJson, nameField, unstorable } from '../support/text.ts'
import { traceparentPattern } from '../support/trace.ts'

export const dedupeModes = ['keep', 'replace', 'debounce', 'again', 'once'] as const
/**
 * What happens when a job with the same key is there already: `keep` the old one, `replace` its payload, `debounce` (replace, and wait anew),
 * `again` (run once more after the one that runs), `once` (in a run: not even when the first has finished).
 */
export type DedupeMode = (typeof dedupeModes)[number]

export interface JobOptions {
  /** Not before this time … */
  readonly runAt?: Date
  /** … or after this long. */
  readonly delay?: Duration
  /** Higher goes first; age catches up (setting `priorityStep`). -1000 … 1000. */
  readonly priority?: number
  /** On whose behalf. */
  readonly owner?: string
  /** Dedupe key, told apart by kind. Without one it is made of owner and payload. */
  readonly key?: string
  readonly dedupe?: DedupeMode | 'none'
  /** No second job with this key within this time, even if the first has finished. */
  readonly uniqueFor?: Duration
  /** The longest a debounced job can be put off. */
  readonly debounceMax?: Duration
  readonly pool?: string
  readonly attempts?: number
  /** What its budget, concurrency and pauses are counted against. Default: that of its kind, or the open lane. */
  readonly lane?: string
  /** Permits of its lane that one attempt takes. Default: that of its kind, or 1. */
  readonly cost?: number
  /** W3C traceparent that the job carries on, as from the header of a request. Default: the active span. */
  readonly trace?: string
}

/** Where a job comes from: what a child inherits. */
export interface Family {
  readonly parent: number
  readonly root: number
  readonly run?: number | undefined
  readonly event?: number | undefined
}

/** What a request inherits from where it comes from. */
export interface Origins {
  readonly family?: Family
  readonly trace?: string | undefined
}

/** The part of a kind that a request needs; kinds that this process does not define are named by a string. */
export interface RequestKind {
  readonly kindName: string
  readonly dedupe?: DedupeMode | undefined
  check(payload: unknown): void
}

export interface JobRequest {
  readonly kind: RequestKind | string
  readonly payload: unknown
  readonly options?: JobOptions
  /** The kind was called for it: what its functions work out is in the options. */
  readonly asked?: true
}

/** A request that was checked, its parts already as JSON text. */
export interface EncodedRequest {
  readonly kind: string
  readonly pool: string | undefined
  readonly delayed: boolean
  /** It may be in a lane: then workers that look at lanes are woken as well. */
  readonly priority: number | undefined
  readonly laned: boolean
  readonly payload: string
  /** What differs from the kind, as members of a JSON object; empty for most. */
  readonly fields: string
  readonly trace: string | undefined
}

export const laneName = nameField.refine((lane) => !/^(owner|kind):/.test(lane), 'begins with owner: or kind:, which are ours')
/** Four digits of a year: what JSON, PostgreSQL and people all read the same way. */
const lastMs = Date.UTC(9999, 11, 31)
const isUsableDate = (given: unknown): boolean => given instanceof Date && given.getTime() >= 0 && given.getTime() <= lastMs
const optionsSchema = z.strictObject({
  runAt: z
    .custom<Date>(isUsableDate, 'is no Date between 1970 and 9999; give one, as new Date(Date.now() + 60_000), or a `delay`')
    .optional(),
  delay: durationField.optional(),
  priority: z.int().min(-1000).max(1000).optional(),
  owner: nameField.optional(),
  key: z.string().min(1).max(512).refine(isStorable, unstorable).optional(),
  dedupe: z.enum([...dedupeModes, 'none']).optional(),
  uniqueFor: durationField.optional(),
  debounceMax: durationField.optional(),
  pool: nameField.optional(),
  attempts: z.int().min(1).max(1000).optional(),
  lane: laneName.optional(),
  cost: z.int().min(1).max(30_000).optional(),
  trace: z.string().regex(traceparentPattern, 'is no W3C traceparent; give the header as it came, or leave it out').optional(),
})

export function encodeRequest(request: JobRequest, limits: { payloadBytesMax: number }, origins?: Origins): EncodedRequest {
  const kind = kindOf(request)
  const family = origins?.family
  const trace = origins?.trace
  const payload = encodePayload(kind, request.payload, limits.payloadBytesMax)
  // Checked as the handler will get it: a Date passes its schema here and comes back as text.
  if (typeof request.kind !== 'string') request.kind.check(isFlat(request.payload) ? request.payload : JSON.parse(payload))
  checkDebounce(request)
  if (request.options === undefined && family === undefined && !request.asked)
    return { kind, pool: undefined, priority: undefined, delayed: false, laned: false, payload, fields: '', trace }
  const options = request.options === undefined ? '' : encodeOptions(request.options)
  const ancestry = family === undefined ? '' : `,${JSON.stringify(family).slice(1, -1)}`
  const asked = request.asked ? ',"asked":true' : ''
  const { pool, priority, runAt, delay, lane, owner } = request.options ?? {}
  const delayed = runAt !== undefined || delay !== undefined
  const laned = lane !== undefined || owner !== undefined
  return {
    kind,
    pool,
    priority,
    delayed,
    laned,
    payload,
    fields: options + ancestry + asked,
    trace: request.options?.trace ?? trace,
  }
}

/** It would be forgotten, and the job would wait for none. Of a kind that is only named the database alone knows how it dedupes. */
function checkDebounce({ kind, options }: JobRequest): void {
  if (options?.debounceMax === undefined || options.dedupe !== undefined || typeof kind === 'string') return
  if (kind.dedupe === 'debounce') return
  const problem = "does nothing without debounce; give `dedupe: 'debounce'` here or in the kind, or leave it out"
  throw new SluiceError('INVALID_OPTION', { field: 'debounceMax', problem })
}

/** What JSON gives back as it is: an object of texts, whole numbers, truths and nothing else. */
function isFlat(payload: unknown): boolean {
  if (typeof payload !== 'object' || payload === null || Object.getPrototypeOf(payload) !== Object.prototype) return false
  for (const name in payload) {
    const value = (payload as Record<string, unknown>)[name]
    if (typeof value !== 'string' && typeof value !== 'boolean' && !Number.isSafeInteger(value)) return false
  }
  return true
}

/** In plain JavaScript anything may come: a payload, a kind that was not called, an event. */
function kindOf(request: JobRequest): string {
  const kind: unknown = (request as JobRequest | undefined)?.kind
  if (typeof kind === 'string') {
    if (!isStorable(kind)) throw new SluiceError('UNKNOWN_KIND', { kind })
    checkParts(request)
    return kind
  }
  if (typeof kind === 'function' && 'kindName' in kind && 'check' in kind) {
    checkParts(request)
    return String(kind.kindName)
  }
  if (typeof kind === 'function' && 'kindName' in kind)
    throw new SluiceError('INVALID_OPTION', { field: 'job', problem: `is a run and no job; start it: engine.runs.start(…)` })
  const problem = 'is no request for a job; call its kind, as in send({ to }), or give { kind, payload }'
  throw new SluiceError('INVALID_OPTION', { field: 'job', problem })
}

/** A delay beside the payload would be forgotten, and the job would run at once. */
export function checkParts(request: JobRequest): void {
  for (const part in request)
    if (part !== 'kind' && part !== 'payload' && part !== 'options' && part !== 'asked')
      throw new SluiceError('INVALID_OPTION', {
        field: `job.${part}`,
        problem: 'is no part of a request; put what the job shall have into `options`: { kind, payload, options: { … } }',
      })
}

export function encodePayload(kind: string, payload: unknown, bytesMax: number): string {
  let json: string | undefined
  try {
    json = JSON.stringify(payload ?? {})
  } catch (cause) {
    throw new SluiceError(
      'PAYLOAD_NOT_STORABLE',
      { kind, reason: cause instanceof Error ? cause.message : 'it has no JSON form' },
      cause,
    )
  }
  if (json === undefined) throw new SluiceError('PAYLOAD_NOT_STORABLE', { kind, reason: 'it has no JSON form' })
  const lost = json.includes('null') || json.includes('{}') ? findLost(payload, '') : undefined
  if (lost !== undefined) throw new SluiceError('PAYLOAD_NOT_STORABLE', { kind, reason: lost })
  // A character takes at most three bytes here, so short texts need no counting.
  const bytes = json.length * 3 <= bytesMax ? 0 : Buffer.byteLength(json)
  if (bytes > bytesMax) throw new SluiceError('PAYLOAD_TOO_LARGE', { kind, bytes, limit: bytesMax })
  if (!isStorableJson(json))
    throw new SluiceError('PAYLOAD_NOT_STORABLE', {
      kind,
      reason: `it ${unstorable}`,
    })
  return json
}

/** What JSON empties without a word, so that a handler would read a missing value, a date of 1970, or nothing in a Map. It has a JSON form, so there are no circles. */
function findLost(value: unknown, path: string): string | undefined {
  const problem = (what: string, left = 'null'): string => `${path || 'it'} is ${what}, which would become ${left}`
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : problem(String(value))
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? problem('an invalid Date') : undefined
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined
  if (value instanceof Map) return problem('a Map', '{}; pass Object.fromEntries(map)')
  if (value instanceof Set) return problem('a Set', '{}; pass [...set]')
  for (const [name, inner] of Object.entries(value)) {
    const lost = findLost(inner, path === '' ? name : `${path}.${name}`)
    if (lost !== undefined) return lost
  }
  return undefined
}

function encodeOptions(options: JobOptions): string {
  checkFields(optionsSchema, options)
  const { runAt, delay, priority, owner, key, dedupe, uniqueFor, debounceMax, pool, attempts, lane, cost } = options
  if (runAt && delay !== undefined)
    throw new SluiceError('INVALID_OPTION', { field: 'delay', problem: 'give either runAt or delay, not both' })
  const row = {
    run_at: runAt?.toISOString(),
    delay_ms: delay === undefined ? undefined : toMs(delay, 'delay'),
    priority,
    owner,
    key,
    mode: dedupe,
    unique_ms: uniqueFor === undefined ? undefined : toMs(uniqueFor, 'uniqueFor'),
    debounce_max_ms: debounceMax === undefined ? undefined : toMs(debounceMax, 'debounceMax'),
    pool,
    max_attempts: attempts,
    lane,
    cost,
  }
  const json = JSON.stringify(row)
  return json === '{}' ? '' : `,${json.slice(1, -1)}`
}
