/**
 * Jobs as the API shows and takes them.
 */
import { z } from 'zod'
import { duration, id, json, name, text, time } from '../fields.ts'

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

export const jobRequest = z
  .strictObject({
    kind: name,
    payload: json.exactOptional(),
    options: z
      .strictObject({
        runAt: time.exactOptional().describe('Not before this time …'),
        delay: duration.exactOptional().describe('… or after this long.'),
        priority: z.int().min(-1000).max(1000).exactOptional().describe('Higher goes first.'),
        owner: name.exactOptional(),
        key: text(512).exactOptional().describe('Dedupe key, told apart by kind.'),
        dedupe: z.enum(['keep', 'replace', 'debounce', 'again', 'none']).exactOptional(),
        uniqueFor: duration.exactOptional(),
        debounceMax: duration.exactOptional(),
        pool: name.exactOptional(),
        attempts: z.int().min(1).max(1000).exactOptional(),
        lane: name.exactOptional(),
        cost: z.int().min(1).max(30_000).exactOptional(),
      })
      .exactOptional(),
  })
  .meta({ id: 'JobRequest' })
