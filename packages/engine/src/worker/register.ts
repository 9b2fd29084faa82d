/**
 * The row that stands for a working process, and the statements around it.
 */
import { hostname } from 'node:os'
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'

export interface Registration {
  readonly pools: Readonly<Record<string, { core: number; max: number }>>
  readonly kinds: readonly string[]
  readonly leaseMs: number
}

export async function registerWorker(on: Executor, { pools, kinds, leaseMs }: Registration): Promise<number> {
  const { rows } = await on.query<{ id: number }>(sql`
    insert into sluice.worker (name, pools, kinds, lease_until)
    values (${`${hostname()}:${process.pid}`}, ${JSON.stringify(pools)}::jsonb, ${[...kinds]}, sluice.now() + ${leaseMs} * interval '1 ms')
    returning id`)
  return (rows[0] as { id: number }).id
}

/** The first word of a process that leaves in order: it gives up leadership, so that another takes over while its last jobs end. */
export async function markStopping(on: Executor, worker: number): Promise<void> {
  await on.query(sql`
    with marked as (update sluice.worker set stopping = true where id = ${worker} returning id)
    update sluice.leader set until = '-infinity', worker = null
    where worker = (select id from marked)
    returning pg_notify('sluice', 'leader:')`)
}

/** And the last: its row goes, so nobody waits for a lease. */
export async function deregisterWorker(on: Executor, worker: number): Promise<void> {
  await on.query(sql`delete from sluice.worker where id = ${worker}`)
}

/** Hands back what the table says this worker holds and it does not know: claims whose answer got lost. */
export async function auditWorker(on: Executor, worker: number, held: readonly number[]): Promise<number> {
  const { rows } = await on.query<{ audit: number }>(sql`select sluice.audit(${worker}, ${[...held]}::bigint[]) as audit`)
  return rows[0]?.audit ?? 0
}
