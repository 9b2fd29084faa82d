/**
 * The state of everything, as the API shows it.
 */
import { z } from 'zod'
import { id } from '../fields.ts'
import { bounded, leader, pool } from './worker-schemas.ts'

export const deadLetters = z
  .object({
    error: z.string().describe('Its fingerprint: `error` of a filter picks its jobs.'),
    kind: z.string(),
    code: z.string().nullable(),
    message: z.string().nullable().describe('Of the newest.'),
    count: z.int().describe('Among those that were looked at.'),
    newestJob: id,
    firstAt: z.date(),
    lastAt: z.date(),
  })
  .meta({ id: 'DeadLetterGroup' })

const dispatcher = z.enum(['postgres', 'redis'])
const dispatch = z
  .object({
    by: dispatcher.describe('As the process that answers sees it.'),
    instead: z.string().optional().describe('Why PostgreSQL, although Redis was asked for.'),
    since: z.date().optional(),
    leads: z.boolean(),
    processes: z
      .array(z.object({ worker: id, name: z.string(), by: dispatcher, instead: z.string().optional(), since: z.date() }))
      .describe('Those that were given a Redis: who hands out their jobs, since when, and why.'),
    pools: z
      .array(
        z.object({
          pool: z.string(),
          length: z.int(),
          pending: z.int(),
          lag: z.int(),
          delayed: z.int(),
          parked: z.int(),
          takenOver: z.int(),
        }),
      )
      .describe('What Redis holds; empty where it does not answer, or there is none.'),
  })
  .meta({ id: 'Dispatch' })

export const overview = z
  .object({
    at: z.date(),
    jobs: z.object({ scheduled: bounded, ready: bounded, paused: bounded, running: bounded, failed: bounded }),
    ledger: z
      .object({ about: z.number(), days: z.int() })
      .describe('Finished jobs that are kept, as the server estimates them, and over how many days.'),
    runs: z.object({
      created: bounded,
      running: bounded,
      finalizing: bounded,
      completed: bounded,
      failed: bounded,
      canceled: bounded,
    }),
    pools: z.array(pool),
    oldestReady: z
      .object({ pool: z.string(), job: id, since: z.date() })
      .optional()
      .describe('The job that could have run for longest and does not, of those next in line.'),
    workers: z.object({ alive: z.int(), stopping: z.int(), lost: z.int() }),
    leader,
    lanesClosed: bounded,
    deadLetters: z.array(deadLetters).describe('The newest groups, up to ten.'),
    dispatch,
  })
  .meta({ id: 'Overview' })
