/**
 * Runs as the API shows them.
 */
import { z } from 'zod'
import { id } from '../fields.ts'
import { storedError } from './job-schemas.ts'

export const runState = z.enum(['created', 'planning', 'running', 'finalizing', 'completed', 'failed', 'canceled'])

export const run = z
  .object({
    id,
    kind: z.string(),
    owner: z.string().nullable(),
    state: runState,
    trigger: z.string().describe('Who or what started it.'),
    payload: z.unknown(),
    total: z.int(),
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
