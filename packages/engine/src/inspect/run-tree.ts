/**
 * The jobs of a run as a tree: each names its parent, parents come before what came of them, live and finished ones alike. Without payloads,
 * so that thousands can be drawn.
 */
import sql from 'sql-template-tag'
import { z } from 'zod'
import type { JobState } from '../job/lifecycle.ts'
import type { Executor } from '../postgres/client.ts'
import { checkFields } from '../support/issue.ts'
import { type Listed, type Page, readPage, rowId, writeCursor } from './page.ts'

export interface TreeJob {
  readonly id: number
  readonly parent: number | null
  readonly kind: string
  readonly lane: string
  readonly state: JobState
  readonly attempt: number
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly runAt: Date | null
  readonly error: { readonly code: string | null; readonly message: string | null } | null
}

/** The tree of the root, then that of the finalizer. */
const place = z.tuple([z.int().min(0).max(1), z.int().min(0)])

export async function listTree(on: Executor, run: number, page: Page): Promise<Listed<TreeJob>> {
  checkFields(rowId, run, 'id of a run')
  const { limit, at: [part, after] = [0, 0] } = readPage('tree', page, place)
  const { rows } = await on.query<TreeJob & { part: number }>(sql`
    select t.part, (t.job).id, (t.job).parent, (t.job).kind, (t.job).lane, (t.job).state, (t.job).attempt, (t.job).created_at as "createdAt",
           (t.job).started_at as "startedAt", (t.job).finished_at as "finishedAt", (t.job).run_at as "runAt",
           case when (t.job).error is not null
                then jsonb_build_object('code', (t.job).error ->> 'code', 'message', left((t.job).error ->> 'message', 1000)) end as error
    from sluice.run_tree(${run}, ${part}, ${after}, ${limit + 1}) as t`)
  const last = rows.at(limit - 1)
  const next = rows.length > limit && last ? writeCursor('tree', [last.part, last.id]) : undefined
  return { items: rows.slice(0, limit).map(({ part: _part, ...job }) => job), next }
}
