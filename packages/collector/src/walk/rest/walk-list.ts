/**
 * A page of a repository's issues or pull requests by REST. The first page has an ETag. An ETag belongs to one address, so a list of issues that fits on one
 * page is asked for as a whole, at an address that stays the same; a longer one by `since`, which moves with every walk that found something.
 */
import { done, type JobContext, type JobRequest, type Outcome, type TransactionClient } from '@sluice/engine'
import type { z } from 'zod'
import { keepEtag, moveCursor, readCursor } from '../../cursor/cursor.ts'
import { ask } from '../ask.ts'
import { earlier } from '../graphql/walk-list.ts'
import { wholePage } from '../list-item.ts'
import type { Workshop } from '../workshop.ts'
import { follow, type RestPlace } from './shapes.ts'

export interface RestList<S extends z.ZodType<readonly unknown[]>> {
  readonly resource: 'issues' | 'pull-requests'
  readonly path: (id: number) => string
  readonly query: Readonly<Record<string, string>>
  /** Whether GitHub leaves out what is older. */
  readonly filtersSince: boolean
  readonly schema: S
  readonly store: (tx: TransactionClient, collection: number, id: number, rows: z.output<S>) => Promise<unknown>
  /** Everything that follows is older than this. */
  readonly lastChange: (rows: z.output<S>) => string | undefined
}

export async function walkRestList<S extends z.ZodType<readonly unknown[]>>(
  job: JobContext<{ readonly collection: number; readonly run: number; readonly rest: RestPlace }>,
  workshop: Workshop,
  list: RestList<S>,
  request: (rest: RestPlace) => JobRequest,
): Promise<Outcome> {
  const { collection, run, rest } = job.payload
  const { id, link } = rest
  const subject = { resource: list.resource, subject: id }
  const cursor = await readCursor(workshop.engine, collection, list.resource, id)
  const short = cursor?.total !== null && cursor?.total !== undefined && cursor.total < wholePage
  const since = link ? rest.since : cursor?.since && !(list.filtersSince && short) ? cursor.since.toISOString() : undefined
  const query = { ...list.query, per_page: wholePage, since: list.filtersSince ? since : undefined }
  const call = link ? { path: link } : { path: list.path(id), query, etag: cursor }
  const asked = await ask(job, workshop, call, {
    schema: list.schema,
    repository: { collection, run, id },
    moved: (to) => request({ ...rest, link: to }),
  })
  if (asked.type === 'over') return asked.outcome
  if (asked.type === 'not modified') return done()
  const rows = asked.data
  const startedAt = rest.startedAt ?? asked.servedAt.toISOString()
  const etag = link ? rest.etag : asked.etag
  const last = list.lastChange(rows)
  const over = since !== undefined && last !== undefined && Date.parse(last) < Date.parse(since)
  const further = over ? undefined : follow(rest, asked.next)
  const whole = !link && since === undefined && !further
  // Nothing came: where it stands is as good as any later time, and keeps the address and its ETag.
  const moves = link !== undefined || rows.length > 0 || cursor?.since === null || cursor === undefined
  return done({
    write: async (tx) => {
      await list.store(tx, collection, id, rows)
      if (further) return
      const total = whole ? rows.length : null
      await moveCursor(
        tx,
        collection,
        { ...subject, total, ...(moves ? { since: earlier(startedAt, workshop) } : {}), head: null },
        run,
      )
      await keepEtag(tx, collection, subject, etag ?? null, run)
    },
    next: further && [request({ id, ...further, etag, startedAt, ...(since === undefined ? {} : { since }) })],
  })
}
