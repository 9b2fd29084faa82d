/**
 * The row that stands for a working process, and the statements around it.
 */
import sql from 'sql-template-tag'
import { withDays } from '../job/missing-day.ts'
import type { Executor } from '../postgres/client.ts'
import type { Database } from '../postgres/database.ts'

export interface Registration {
  readonly name: string
  readonly pools: Readonly<Record<string, { core: number; max: number }>>
  readonly kinds: readonly string[]
  readonly leaseMs: number
}

export async function registerWorker(on: Executor, { name, pools, kinds, leaseMs }: Registration): Promise<number> {
  const { rows } = await on.query<{ id: number }>(sql`
    insert into sluice.worker (name, pools, kinds, lease_until)
    values (${name}, ${JSON.stringify(pools)}::jsonb, ${[...kinds]}, sluice.now() + ${leaseMs} * interval '1 ms')
    returning id, pg_notify('sluice', 'worker:')`)
  return (rows[0] as { id: number }).id
}

/** The first word of a process that leaves in order: it gives up leadership, so that another takes over while its last jobs end. */
export async function markStopping(on: Executor, worker: number): Promise<void> {
  await on.query(sql`
    with marked as (update sluice.worker set stopping = true, takes = null where id = ${worker} returning id)
    update sluice.leader set until = '-infinity', worker = null
    where worker = (select id from marked)
    returning pg_notify('sluice', 'leader:')`)
}

/** And the last: its row goes, or its lease ends. */
export async function deregisterWorker(on: Executor, worker: number): Promise<void> {
  await on.query(sql`select sluice.leave(${worker})`)
}

/** Hands back what the table says this worker holds and it does not know: claims that got lost on their way. None of them had a fence above `fence`. */
export async function auditWorker(
  database: Database,
  worker: number,
  held: readonly number[],
): Promise<{ jobs: number; fence: number; leftOver: boolean }> {
  const audit = { name: 'sluice_audit', text: 'select jobs, until_fence, left_over from sluice.audit($1, $2::bigint[])' }
  const [row] = await withDays(database, () => database.send<[number, number, boolean]>(database.hot, audit, [worker, held]))
  return { jobs: row?.[0] ?? 0, fence: row?.[1] ?? 0, leftOver: row?.[2] ?? false }
}
