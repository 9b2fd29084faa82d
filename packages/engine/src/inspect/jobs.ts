/**
 * Jobs for people who look: live and finished ones as one list, newest first (sluice.list_jobs in migrations/0013).
 */
import sql, { type Sql } from 'sql-template-tag'
import type { Job } from '../job/job-store.ts'
import type { Executor } from '../postgres/client.ts'
import type { EncodedFilter } from './job-filter.ts'
import { idPlace, type Listed, type Looked, lookRowsMax, type Page, readPage, writeCursor } from './page.ts'

/** The last row of a list has no job; it says where the list ended. */
export interface ListEnd {
  readonly looked: number
  readonly lookedUntil: Date | null
  readonly next: number | null
}

const jobColumns: Sql = sql`
  (l.job).id, (l.job).kind, (l.job).pool, (l.job).lane, (l.job).owner, (l.job).state, (l.job).priority, (l.job).payload, (l.job).key, (l.job).parent, (l.job).root,
  (l.job).run, (l.job).event, (l.job).attempt, (l.job).max_attempts as "maxAttempts", (l.job).crashes, (l.job).worker, (l.job).run_at as "runAt",
  (l.job).created_at as "createdAt", (l.job).started_at as "startedAt", (l.job).finished_at as "finishedAt", (l.job).cancel_at as "cancelRequestedAt", (l.job).error, (l.job).trace`

export async function listJobs(on: Executor, filter: EncodedFilter, page: Page): Promise<Listed<Job>> {
  const { limit, at } = readPage('jobs', page, idPlace)
  const { rows } = await on.query<Job & ListEnd>(sql`
    select ${jobColumns}, l.looked, l.looked_until as "lookedUntil", l.next
    from sluice.list_jobs(${JSON.stringify(filter)}::jsonb, ${at ?? null}, ${limit}, ${lookRowsMax}) as l`)
  const { items, end } = splitEnd(rows)
  return {
    items: items.map(({ looked: _looked, lookedUntil: _until, next: _next, ...job }) => job),
    ...endOf('jobs', end, Object.keys(filter).length > 0),
  }
}

/** The same list as ids only, for who acts on them. */
export async function listIds(on: Executor, filter: EncodedFilter, page: Page): Promise<Listed<number>> {
  const { limit, at } = readPage('jobs', page, idPlace)
  const { rows } = await on.query<{ id: number } & ListEnd>(sql`
    select (l.job).id, l.looked, l.looked_until as "lookedUntil", l.next
    from sluice.list_jobs(${JSON.stringify(filter)}::jsonb, ${at ?? null}, ${limit}, ${lookRowsMax}) as l`)
  const { items, end } = splitEnd(rows)
  return { items: items.map(({ id }) => id), ...endOf('jobs', end, true) }
}

export function splitEnd<Row extends ListEnd>(rows: readonly Row[]): { items: Row[]; end: Row } {
  const end = rows.at(-1)
  if (!end) throw new Error('a list came without its end')
  return { items: rows.slice(0, -1), end }
}

/** A list that everything fits into does not say how far it looked: as far as it answers. */
export function endOf(list: string, end: ListEnd, filtered: boolean): { next: string | undefined; looked?: Looked } {
  const next = end.next === null ? undefined : writeCursor(list, end.next)
  if (!filtered) return { next }
  return { next, looked: { rows: end.looked, until: end.lookedUntil ?? undefined } }
}
