/**
 * Processes, pools and kinds as the API shows them.
 */
import { z } from 'zod'
import { id } from '../fields.ts'

export const bounded = z
  .object({ count: z.int(), more: z.boolean().describe('There are more than this.') })
  .meta({ id: 'Bounded', description: 'A number that was not counted further than it is worth.' })

const paused = z.object({ reason: z.string().nullable(), since: z.date() }).nullable()

export const worker = z
  .object({
    id,
    name: z.string().describe('Host and process id.'),
    state: z.enum(['alive', 'stopping', 'lost']),
    leads: z.boolean(),
    pools: z.record(z.string(), z.object({ core: z.int(), max: z.int() })),
    kinds: z.array(z.string()),
    running: z.record(z.string(), z.int()).describe('Jobs that ran at the last beat, by pool.'),
    startedAt: z.date(),
    beatAt: z.date(),
    leaseUntil: z.date().nullable(),
  })
  .meta({ id: 'Worker' })

export const leader = z
  .object({
    term: z.int(),
    worker: id.optional().describe('Not there when nobody leads.'),
    name: z.string().optional(),
    until: z.date().optional(),
  })
  .meta({ id: 'Leader' })

export const kind = z
  .object({
    name: z.string(),
    pool: z.string(),
    priority: z.int(),
    maxAttempts: z.int(),
    dedupe: z.string().nullable(),
    lane: z.string().nullable().describe('{owner} stands for the owner of the job.'),
    cost: z.int(),
    registeredAt: z.date(),
    on: z.array(z.string()).describe('Events it gets.'),
    workers: z.int().describe('Processes that are alive and can run it.'),
    paused,
  })
  .meta({ id: 'Kind' })

export const pool = z
  .object({
    name: z.string(),
    workers: z.int().describe('Processes that are alive and work for it.'),
    core: z.int().describe('Jobs they run at once, together …'),
    max: z.int().describe('… and while a backlog stands.'),
    running: z.int().describe('As of their last beats.'),
    ready: bounded,
    next: z.object({ job: id, since: z.date() }).optional().describe('The job that is next, and since when it could have run.'),
    paused,
  })
  .meta({ id: 'Pool' })
