/**
 * Jobs as the API shows and takes them.
 */
import { z } from 'zod'
import { duration, id, idInUrl, json, jsonInUrl, name, paging, text, time } from '../fields.ts'

export const jobState = z.enum(['scheduled', 'ready', 'paused', 'running', 'failed', 'succeeded', 'canceled'])

export const storedError = z
  .object({ message: z.string(), code: z.string().optional(), stack: z.string().optional() })
  .meta({ id: 'StoredError', description: 'What a handler threw, as it is kept with the job.' })

export const job = z
  .object({
    id,
    kind: z.string(),
    pool: z.string(),
    lane: z.string().describe('Empty for the open lane.'),
    owner: z.string().nullable(),
    state: jobState,
    priority: z.int(),
    payload: z.unknown(),
    key: z.string().nullable(),
    parent: id.nullable(),
    root: id.nullable(),
    run: id.nullable(),
    event: id.nullable().describe('The event that brought it about.'),
    attempt: z.int(),
    maxAttempts: z.int().nullable(),
    crashes: z.int(),
    worker: id.nullable(),
    runAt: z.date().nullable(),
    createdAt: z.date(),
    startedAt: z.date().nullable(),
    finishedAt: z.date().nullable(),
    cancelRequestedAt: z.date().nullable(),
    error: storedError.nullable(),
    trace: z
      .string()
      .nullable()
      .describe('W3C traceparent of the span that enqueued it.')
      .meta({ examples: [null] }),
  })
  .meta({ id: 'Job' })

export const attempt = z
  .object({
    attempt: z.int(),
    worker: id.nullable(),
    startedAt: z.date().nullable(),
    endedAt: z.date().nullable(),
    outcome: z.enum(['running', 'succeeded', 'retry', 'snooze', 'failed', 'canceled', 'lost']),
    error: storedError.nullable(),
  })
  .meta({ id: 'Attempt' })

export const explanation = z
  .object({ reason: z.string(), text: z.string().describe('One sentence for a person.'), until: z.date().optional() })
  .meta({ id: 'Explanation' })

export const enqueued = z
  .object({ id, created: z.boolean().describe('False when a job with the same key was there already: `id` is that job.') })
  .meta({ id: 'Enqueued' })

export const jobOptions = z
  .strictObject({
    runAt: time.exactOptional().describe('Not before this time …'),
    delay: duration.exactOptional().describe('… or after this long.'),
    priority: z.int().min(-1000).max(1000).exactOptional().describe('Higher goes first.'),
    owner: name.exactOptional().describe('On whose behalf.'),
    key: text(512).exactOptional().describe('Dedupe key, told apart by kind.'),
    dedupe: z.enum(['keep', 'replace', 'debounce', 'again', 'none']).exactOptional(),
    uniqueFor: duration.exactOptional().describe('No second job with this key within this time.'),
    debounceMax: duration.exactOptional(),
    pool: name.exactOptional(),
    attempts: z.int().min(1).max(1000).exactOptional(),
    lane: name.exactOptional(),
    cost: z.int().min(1).max(30_000).exactOptional().describe('Permits of its lane that one attempt takes.'),
  })
  .meta({ id: 'JobOptions' })

export const jobRequest = z
  .strictObject({ kind: name, payload: json.exactOptional(), options: jobOptions.exactOptional() })
  .meta({ id: 'JobRequest' })

const fingerprint = z.string().regex(/^[0-9a-f]{16}$/, 'is no group of dead letters')

/** As it stands in an address. */
export const jobQuery = z.strictObject({
  state: z
    .union([jobState, z.array(jobState).min(1).max(7)])
    .exactOptional()
    .describe('One, or several: state=failed&state=running.'),
  kind: name.exactOptional(),
  pool: name.exactOptional(),
  lane: name.exactOptional(),
  owner: name.exactOptional(),
  run: idInUrl.exactOptional(),
  tree: idInUrl.exactOptional().describe('The job at the root of a tree, and all that came of it.'),
  error: fingerprint.exactOptional().describe('`error` of a group of dead letters.'),
  payload: jsonInUrl
    .exactOptional()
    .describe('JSON that the payload contains. Looks through the newest jobs and says how far it got.'),
  ...paging,
})

/** As it stands in a body. */
const jobFilter = z
  .strictObject({
    state: z.union([jobState, z.array(jobState).min(1).max(7)]).exactOptional(),
    kind: name.exactOptional(),
    pool: name.exactOptional(),
    lane: name.exactOptional(),
    owner: name.exactOptional(),
    run: id.exactOptional(),
    tree: id.exactOptional(),
    error: fingerprint.exactOptional(),
  })
  .meta({ id: 'JobFilter' })

export const bulkRequest = z
  .strictObject({
    action: z.enum(['retry', 'cancel', 'discard']),
    filter: jobFilter,
    dryRun: z.boolean().exactOptional().describe('Only say how many it would be.'),
    max: z.int().min(1).max(10_000).exactOptional().describe('At most so many at once.'),
    cursor: text(1_000).exactOptional().describe('`next` of the answer before.'),
    reason: text(1_000).exactOptional().describe('Told to those who look at a canceled job.'),
  })
  .meta({ id: 'BulkRequest' })

export const bulkAnswer = z
  .object({
    matched: z.int(),
    changed: z.int(),
    answers: z.record(z.string(), z.int()).describe('How many got which answer.'),
    more: z.boolean().describe('It stopped before it had seen all jobs: ask again, or go on from `next`.'),
    next: z.string().optional(),
  })
  .meta({ id: 'BulkAnswer' })

export const logLine = z
  .object({
    id: z.int().describe('Give the last one as `after` to go on.'),
    attempt: z.int(),
    line: z.int().describe('Counts within the attempt, from 1.'),
    at: z.date(),
    level: z.enum(['info', 'warn']),
    message: z.string(),
    fields: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'LogLine' })
