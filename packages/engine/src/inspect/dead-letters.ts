/**
 * Dead letters: failed jobs that wait for somebody, grouped by what their errors have in common.
 *
 * A group is kind, code and message, with numbers, ids, hex and quoted words masked (sluice.error_fingerprint in migrations/0013). It is
 * worked out when a job dies and stored beside it, so that grouping reads one error of each group and no stacks.
 */
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import { endOf, type ListEnd, splitEnd } from './jobs.ts'
import { idPlace, type Listed, type Page, readPage } from './page.ts'

export interface DeadLetterGroup {
  /** Its fingerprint: `error` of a filter picks its jobs. */
  readonly error: string
  readonly kind: string
  readonly code: string | null
  /** Of the newest. */
  readonly message: string | null
  /** Among those that were looked at. */
  readonly count: number
  readonly newestJob: number
  /** When the last attempt of the first and of the last of them began. */
  readonly firstAt: Date
  readonly lastAt: Date
}

/** Failed jobs that a list of groups looks at. */
const groupedJobsMax = 10_000

export async function listDeadLetters(on: Executor, page: Page): Promise<Listed<DeadLetterGroup>> {
  const { limit, at } = readPage('dead letters', page, idPlace)
  const { rows } = await on.query<DeadLetterGroup & ListEnd>(sql`
    select fingerprint as error, kind, code, message, jobs as count, newest as "newestJob", first_at as "firstAt", last_at as "lastAt",
           looked, looked_until as "lookedUntil", next
    from sluice.dead_letters(${at ?? null}, ${limit}, ${groupedJobsMax})`)
  const { items, end } = splitEnd(rows)
  const { next } = endOf('dead letters', end, false)
  return {
    items: items.map(({ looked: _looked, lookedUntil: _until, next: _next, ...group }) => group),
    next,
    looked: { rows: end.looked, until: end.lookedUntil ?? undefined },
  }
}
