/**
 * One action on all jobs that a filter picks: retry, cancel, discard.
 *
 * It goes from the newest job to the oldest, so that what is enqueued meanwhile is left alone and it comes to an end. Each batch is a
 * transaction of its own: one that fails leaves those before it done, and the same call again goes on. A dry run only counts.
 */
import { z } from 'zod'
import type { JobState } from '../job/lifecycle.ts'
import { cancelJobs, discardJobs, retryJobs } from '../job/steer.ts'
import type { Executor } from '../postgres/client.ts'
import { SluiceError } from '../support/errors.ts'
import { checkFields } from '../support/issue.ts'
import { type EncodedFilter, encodeFilter, type JobFilter } from './job-filter.ts'
import { listIds } from './jobs.ts'

export type BulkAction = 'retry' | 'cancel' | 'discard'

export interface BulkOptions {
  /** Counts what would be changed and changes nothing. */
  readonly dryRun?: boolean | undefined
  /** Jobs at most, 1 to 100,000. Default 10,000. */
  readonly max?: number | undefined
  /** `next` of the answer before. */
  readonly cursor?: string | undefined
  /** Told to those who look at a canceled job. */
  readonly reason?: string | undefined
}

export interface BulkAnswer {
  /** Jobs that the filter picked. */
  readonly matched: number
  /** Of these, how many were changed; a dry run changes none. */
  readonly changed: number
  /** How they were answered, e.g. `retried`, `conflict`, `requested`, and how often. */
  readonly answers: Readonly<Record<string, number>>
  /** It stopped before it had seen all jobs: ask again, or go on from `next`. */
  readonly more: boolean
  readonly next?: string
}

export interface BulkParts {
  readonly looking: Executor
  readonly writing: Executor
  /** Those that run in this process hear it at once. */
  readonly onRequested: (id: number, fence: number) => void
}

const batchSize = 500
/** Pages of a call: a filter that fits rarely does not keep its caller waiting for ever. */
const pagesMax = 100

const optionsSchema = z.strictObject({
  dryRun: z.boolean().optional(),
  max: z.int().min(1).max(100_000).optional(),
  cursor: z.string().optional(),
  reason: z.string().min(1).max(1_000).optional(),
})
const actionSchema = z.enum(['retry', 'cancel', 'discard'], { error: 'is none of retry, cancel, discard' })

const targets: Record<BulkAction, { readonly allowed: readonly JobState[]; readonly unless: readonly JobState[] }> = {
  retry: { allowed: ['failed'], unless: ['failed'] },
  discard: { allowed: ['failed'], unless: ['failed'] },
  // Dead letters are given up on only by who names them.
  cancel: { allowed: ['scheduled', 'ready', 'paused', 'running', 'failed'], unless: ['paused', 'ready', 'running', 'scheduled'] },
}

const changes = new Set(['retried', 'canceled', 'requested', 'discarded'])

export async function bulk(parts: BulkParts, given: BulkAction, filter: JobFilter, options: BulkOptions): Promise<BulkAnswer> {
  const action = checkFields(actionSchema, given, 'action')
  const { dryRun = false, max = 10_000, reason, ...from } = checkFields(optionsSchema, options)
  const wanted = aim(action, filter)
  const answers: Record<string, number> = {}
  let [matched, cursor, more] = [0, from.cursor, true]
  for (let pages = 0; more && matched < max && pages < pagesMax; pages++) {
    const page = await listIds(parts.looking, wanted, { cursor, limit: Math.min(batchSize, max - matched) })
    matched += page.items.length
    if (!dryRun && page.items.length > 0) {
      for (const answer of await act(parts, action, page.items, reason)) answers[answer] = (answers[answer] ?? 0) + 1
    }
    cursor = page.next
    more = cursor !== undefined
  }
  const changed = Object.entries(answers).reduce((sum, [answer, times]) => sum + (changes.has(answer) ? times : 0), 0)
  return { matched, changed, answers, more, ...(cursor === undefined ? {} : { next: cursor }) }
}

function aim(action: BulkAction, filter: JobFilter): EncodedFilter {
  const encoded = encodeFilter(filter)
  if (Object.keys(encoded).length === 0)
    throw new SluiceError('INVALID_OPTION', { field: 'filter', problem: 'picks all jobs; name at least one field, e.g. state' })
  const { allowed, unless } = targets[action]
  const other = encoded.states?.find((state) => !allowed.includes(state))
  if (other !== undefined)
    throw new SluiceError('INVALID_OPTION', { field: 'state', problem: `nothing to ${action} in ${other} jobs` })
  return { ...encoded, states: encoded.states ?? unless, live: true }
}

async function act(parts: BulkParts, action: BulkAction, ids: readonly number[], reason: string | undefined): Promise<string[]> {
  const { writing: on, onRequested } = parts
  switch (action) {
    case 'retry':
      return [...(await retryJobs(on, ids)).values()]
    case 'cancel':
      return [...(await cancelJobs(on, ids, { reason, onRequested })).values()]
    case 'discard': {
      const discarded = await discardJobs(on, ids)
      return ids.map((_, at) => (at < discarded ? 'discarded' : 'not failed'))
    }
  }
}
