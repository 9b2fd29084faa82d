/**
 * Comparisons of two strategies, as the API shows them.
 */
import { z } from 'zod'
import { id } from '../fields.ts'
import { userStatistics } from './user-schemas.ts'

export const strategy = z.enum(['graphql', 'rest'])

const examples = z.array(z.string()).describe('Keys of a few such rows: repository, then sha or number.')

const side = z.object({
  strategy,
  run: id,
  collection: id.nullable().describe('Null when it went after the report.'),
  state: z.string().describe('completed, failed or canceled; one that did not complete has stored a part only.'),
  tookMs: z.number(),
  jobs: z.int(),
  failed: z.int(),
  errorRate: z.number().describe('Of its jobs, 0 to 1.'),
  kinds: z.array(z.object({ kind: z.string(), jobs: z.int(), failed: z.int() })),
  spent: z
    .array(z.object({ resource: z.enum(['core', 'graphql']), calls: z.int(), units: z.int() }))
    .describe("Of the user's budgets, as GitHub counts."),
  rows: z.record(z.string(), z.int()).describe('By noun.'),
  statistics: userStatistics
    .omit({ userId: true, login: true, run: true, computedAt: true })
    .describe('By the formula of those that count.'),
})

const noun = z.object({
  noun: z.string(),
  only: z.array(z.object({ strategy, count: z.int(), examples })).describe('Rows that only this one has.'),
  unlike: z
    .object({ count: z.int(), fields: z.array(z.object({ field: z.string(), count: z.int() })), examples })
    .describe('Rows that both have, with other values.'),
})

export const shadow = z
  .object({
    id,
    userId: id,
    keep: z.boolean(),
    createdAt: z.date(),
    finishedAt: z.date().nullable(),
    sides: z.array(z.object({ strategy, collection: id, run: id })),
    report: z
      .object({ sides: z.array(side), nouns: z.array(noun) })
      .nullable()
      .describe('Null until both runs have ended.'),
  })
  .meta({ id: 'Shadow' })
