/**
 * How far a run is: its counters, which are exact, its jobs by kind and state, among its newest 10,000, and when it will end if it goes on
 * as it has so far. The finalizer, which gets the counters, is in none of them.
 */
import sql from 'sql-template-tag'
import type { JobState } from '../job/lifecycle.ts'
import type { Executor } from '../postgres/client.ts'
import { finalizerOf } from '../run/run-kind.ts'
import { type Run, runColumns } from '../run/runs.ts'
import { checkFields } from '../support/issue.ts'
import { type Looked, rowId } from './page.ts'

export interface RunProgress {
  readonly run: Run
  /** Jobs that ended over all that are known so far, 0 to 1. */
  readonly done: number
  readonly kinds: readonly { readonly kind: string; readonly states: Readonly<Partial<Record<JobState, number>>> }[]
  /** How many of its jobs `kinds` counts. */
  readonly looked: Looked
  /** Unknown before the first job ended, and once nothing is left to wait for. It moves away when jobs bring more jobs. */
  readonly expectedEnd: Date | undefined
}

const countedJobsMax = 10_000

export async function findProgress(on: Executor, id: number): Promise<RunProgress | undefined> {
  checkFields(rowId, id, 'id of a run')
  const found = await on.query<Run & { now: Date }>(
    sql`select ${runColumns}, sluice.now() as now from sluice.run r where r.id = ${id}`,
  )
  if (!found.rows[0]) return undefined
  const { now, ...run } = found.rows[0]
  const { rows } = await on.query<{ kind: string; state: JobState; jobs: number; oldest: Date }>(
    sql`select kind, state, jobs, oldest from sluice.count_run(${id}, ${countedJobsMax}) where kind <> ${finalizerOf(run.kind)} order by kind, state`,
  )
  const kinds = new Map<string, Partial<Record<JobState, number>>>()
  for (const { kind, state, jobs } of rows) kinds.set(kind, { ...kinds.get(kind), [state]: jobs })
  const counted = rows.reduce((sum, { jobs }) => sum + jobs, 0)
  const oldest = rows.reduce<Date | undefined>((first, row) => (first && first < row.oldest ? first : row.oldest), undefined)
  return {
    run,
    done: run.total === 0 ? 0 : (run.total - run.pending) / run.total,
    kinds: [...kinds].map(([kind, states]) => ({ kind, states })),
    looked: { rows: counted, until: counted >= countedJobsMax ? oldest : undefined },
    expectedEnd: run.finishedAt ? undefined : expectEnd({ ...run, now }),
  }
}

/** By the pace so far: what is pending takes as long as what ended took, job by job. */
export function expectEnd(run: { createdAt: Date; now: Date; total: number; pending: number }): Date | undefined {
  const ended = run.total - run.pending
  const elapsedMs = run.now.getTime() - run.createdAt.getTime()
  if (ended <= 0 || run.pending <= 0 || elapsedMs <= 0) return undefined
  return new Date(run.now.getTime() + (elapsedMs / ended) * run.pending)
}
