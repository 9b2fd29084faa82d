/**
 * Users, what is collected of them and how they score, as the API shows them.
 */
import { z } from 'zod'
import { id } from '../fields.ts'
import { storedError } from './job-schemas.ts'
import { runState } from './run-schemas.ts'

export const user = z
  .object({
    id: id.describe("GitHub's id of the account; it stays when the login changes."),
    login: z.string(),
    apiUrl: z.string().describe('Address of the GitHub that it is an account of.'),
    name: z.string().nullable(),
    tokenState: z
      .enum(['ok', 'refused'])
      .describe('refused: GitHub does not take the token any more; all of it waits for a new one.'),
    tokenRefusedAt: z.date().nullable(),
    tokenRefusal: z.string().nullable().describe('What GitHub said.'),
    strategy: z.enum(['graphql', 'rest']).nullable().describe('Null: the one for all.'),
    registeredAt: z.date(),
    lastRun: id.nullable(),
  })
  .meta({ id: 'User' })

const counts = z.object({
  total: z.int().describe('Known so far; walks find more as they go.'),
  done: z.int().describe('Ended, and not failed.'),
  failed: z.int(),
})

export const collection = z
  .object({
    run: z.object({
      id,
      state: runState,
      trigger: z.string().describe('signup, scheduled or manual.'),
      createdAt: z.date(),
      finishedAt: z.date().nullable(),
      error: storedError.nullable(),
    }),
    jobs: counts.describe('The plan and whatever it led to, without the finalizer.'),
    kinds: z
      .array(counts.extend({ kind: z.string() }))
      .describe('They add up to `jobs`, as long as there are no more than 10,000.'),
    quota: z.array(
      z.object({
        resource: z.enum(['core', 'graphql']),
        remaining: z
          .int()
          .nullable()
          .describe('As GitHub said last; null before the first answer, and when that window has ended.'),
        limit: z.int().nullable(),
        floor: z.int().describe("Left for the user's other tools."),
        resetAt: z.date().nullable(),
        holdUntil: z.date().nullable().describe('A limit was hit: nothing is sent before.'),
        paused: z.string().nullable().describe('The reason.'),
        waits: z
          .object({ for: z.enum(['hold', 'window']), until: z.date() })
          .nullable()
          .describe('Why nothing is sent just now: GitHub asked for a pause, or nothing is left above the floor.'),
      }),
    ),
    remainingJobs: z.int(),
    expectedEnd: z.date().nullable().describe('From the pace so far and from what is left of the budgets.'),
  })
  .meta({ id: 'Collection' })

export const userStatistics = z
  .object({
    userId: id,
    login: z.string(),
    run: id.describe('The collection that they were computed from.'),
    formula: z.int().describe('Version of the formula; docs/scores.md explains each.'),
    computedAt: z.date(),
    repositories: z.int(),
    commits: z.int(),
    additions: z.int(),
    deletions: z.int(),
    countedLines: z.int().describe('Lines with the cap of each commit: what counts for the score.'),
    activeDays: z.int(),
    longestStreak: z.int(),
    currentStreak: z.int(),
    issuesSolved: z.int(),
    pullRequests: z.int().describe("Merged into others' repositories."),
    pullRequestWeight: z.number(),
    activity: z.number(),
    impact: z.number(),
    score: z.number(),
  })
  .meta({ id: 'UserStatistics' })

export const standing = userStatistics.extend({ rank: z.int().describe('1 for the first.') }).meta({ id: 'Standing' })

export const globalStatistics = z
  .object({
    run: id,
    formula: z.int(),
    computedAt: z.date(),
    users: z.int(),
    repositories: z.int(),
    commits: z.int(),
    additions: z.int(),
    deletions: z.int(),
    issuesSolved: z.int(),
    pullRequests: z.int(),
    meanScore: z.number(),
    medianScore: z.number(),
  })
  .meta({ id: 'GlobalStatistics' })
