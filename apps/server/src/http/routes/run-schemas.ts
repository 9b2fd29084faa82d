/**
 * Runs as the API shows them.
 */
import { z } from 'zod'
import { id } from '../fields.ts'
import { jobState, storedError } from './job-schemas.ts'

export const runState = z.enum(['created', 'planning', 'running', 'finalizing', 'completed', 'failed', 'canceled'])

export const run = z
  .object({
    id,
    kind: z.string(),
    owner: z.string().nullable(),
    state: runState,
    trigger: z.string().describe('Who or what started it.'),
    payload: z.unknown(),
    total: z.int().describe('The plan and whatever it led to, without the finalizer.'),
    pending: z.int().describe('Not ended yet.'),
    succeeded: z.int(),
    failed: z.int(),
    canceled: z.int(),
    error: storedError.nullable(),
    rootJob: id,
    finalizerJob: id.nullable(),
    createdAt: z.date(),
    finishedAt: z.date().nullable(),
  })
  .meta({ id: 'Run' })

export const treeJob = z
  .object({
    id,
    parent: id.nullable(),
    kind: z.string(),
    lane: z.string(),
    state: jobState,
    attempt: z.int(),
    createdAt: z.date(),
    startedAt: z.date().nullable(),
    finishedAt: z.date().nullable(),
    runAt: z.date().nullable(),
    error: z.object({ code: z.string().nullable(), message: z.string().nullable() }).nullable(),
  })
  .meta({ id: 'TreeJob' })

export const progress = z
  .object({
    run,
    done: z.number().describe('Jobs that ended over all that are known so far, 0 to 1.'),
    kinds: z.array(z.object({ kind: z.string(), states: z.partialRecord(jobState, z.int()) })),
    looked: z.object({ rows: z.int(), until: z.date().optional() }).describe('How many of its jobs `kinds` counts.'),
    expectedEnd: z.date().optional().describe('If it goes on as it has so far.'),
  })
  .meta({ id: 'RunProgress' })
