/**
 * A page of issues or pull requests of one or several repositories, by GraphQL. `since` moves when the walk of a repository has ended, to the time when it
 * began less the overlap: whatever changed meanwhile is read by the next one.
 */
import type { JobContext, JobRequest, Outcome, TransactionClient } from '@sluice/engine'
import { countCost, halve } from '@sluice/github'
import { z } from 'zod'
import { moveCursor } from '../../cursor/cursor.ts'
import { ask } from '../ask.ts'
import { lighten } from '../batches.ts'
import { wholePage } from '../list-item.ts'
import type { Workshop } from '../workshop.ts'
import { type ListItem, readBatch } from './batch.ts'
import { settleBatch } from './settle-batch.ts'

export interface ChangedItem extends ListItem {
  readonly pageMax?: number | undefined
  readonly since?: string | undefined
  readonly newestAt: string | null
  readonly startedAt?: string | undefined
  readonly keep?: boolean | undefined
}

export interface ListKind<I extends ChangedItem, S extends z.ZodType> {
  readonly resource: 'issues' | 'pull-requests'
  readonly query: (items: readonly I[]) => { query: string; variables: Record<string, unknown> }
  readonly schema: S
  /** What is to be stored, and whether the rest of the list is older than `since`. */
  readonly page: (item: I, data: z.output<S>) => ListPage
}

export interface ListPage {
  readonly store: (tx: TransactionClient, collection: number) => Promise<unknown>
  readonly after: string | undefined
}

export async function walkList<I extends ChangedItem, S extends z.ZodType>(
  job: JobContext<{ readonly collection: number; readonly run: number; readonly items: readonly I[] }>,
  workshop: Workshop,
  kind: ListKind<I, S>,
  request: (items: readonly I[]) => JobRequest,
): Promise<Outcome> {
  const { items, collection, run } = job.payload
  const { query, variables } = kind.query(items)
  const less = (): JobRequest[] | undefined =>
    lighten(items, halve)?.map((list) =>
      request(items.length > 1 ? list : list.map((item) => ({ ...item, pageMax: item.first }))),
    )
  const asked = await ask(
    job,
    workshop,
    { text: query, variables, points: countCost(query).points },
    { schema: z.unknown(), less },
  )
  if (asked.type !== 'ok') return asked.type === 'over' ? asked.outcome : { type: 'done' }
  const parts = readBatch(asked.data, asked.errors, items.length, kind.schema)
  return settleBatch(
    job,
    parts,
    async (item, data) => {
      const { store, after } = kind.page(item, data)
      const startedAt = item.startedAt ?? asked.servedAt.toISOString()
      const { pageMax = wholePage } = item
      const next = after !== undefined && after !== item.after ? { ...item, startedAt, after, first: pageMax } : undefined
      const end = { resource: kind.resource, subject: item.id, since: earlier(startedAt, workshop), head: item.newestAt }
      return {
        write: async (tx) => {
          await store(tx, collection)
          if (!next && !item.keep) await moveCursor(tx, collection, end, run)
        },
        next: next ? [request([next])] : [],
      }
    },
    (item) => request([item]),
  )
}

export function earlier(startedAt: string, { settings }: Workshop): Date {
  return new Date(Date.parse(startedAt) - settings.overlapMs)
}
