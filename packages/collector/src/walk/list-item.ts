/** What payloads of walks share. */
import { exponential, type JobContext, type RetryPolicy } from '@sluice/engine'
import { z } from 'zod'

export const number = z.int().min(1)

/** Whose data, and which run reads it: a page that is tried again after its run has ended still belongs to it. */
export const scope = { collection: number, run: number }

/** A place in a list of one repository. */
export const listItem = {
  id: number,
  node: z.string().min(1).max(200),
  /** Size of this page, and of those to come. */
  first: z.int().min(1).max(100),
  pageMax: z.int().min(1).max(100).optional(),
  after: z.string().max(1_000).optional(),
}

/** A list whose `since` moves when its walk has ended. */
export const changedList = {
  since: z.iso.datetime({ offset: true }).optional(),
  /** The newest update that discovery saw: what the cursor keeps if the walk ends well. */
  newestAt: z.iso.datetime({ offset: true }).nullable(),
  /** GitHub's time when the first page was read. */
  startedAt: z.iso.datetime({ offset: true }).optional(),
  /** The cursor stays where it is: somebody looks at the past once more. */
  keep: z.boolean().optional(),
}

export const wholePage = 100
export const priorities = { discovery: 1, child: 10 } as const
/** GitHub's bad minutes are minutes: five tries take about a quarter of an hour. */
export const patient: RetryPolicy = exponential({ first: '5s', factor: 4, cap: '10m', attempts: 6 })

/** A payload with `rest` is a place in a list by REST, one with `items` are places by GraphQL: two budgets. */
export function laneOfStrategy({ payload, owner = '' }: { payload: object; owner: string | undefined }): string {
  return `github:${owner}:${'rest' in payload ? 'core' : 'graphql'}`
}

export function isRest<P extends object>(job: JobContext<P>): job is JobContext<Extract<P, { rest: unknown }>> {
  return 'rest' in job.payload
}
