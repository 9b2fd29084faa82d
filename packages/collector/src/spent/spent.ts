/**
 * What runs spent of GitHub's budgets, counted from what each answer cost.
 *
 * Jobs of a run end at the same time in many transactions, so each adds a row of its own; the end of the run folds them. A sum over the rows is right at any
 * moment. What a try that failed has cost counts as well: the budget is gone, whatever became of the answer.
 */
import { type Executor, onClient, type TransactionClient } from '@sluice/engine'
import sql from 'sql-template-tag'

export const resources = ['core', 'graphql'] as const

export type Resource = (typeof resources)[number]

export interface Spent {
  readonly resource: Resource
  readonly calls: number
  readonly units: number
}

export async function addSpent(on: Executor, run: number, spent: readonly Spent[]): Promise<void> {
  if (spent.length === 0) return
  await on.query(sql`
    insert into collector.spent (run, resource, calls, units)
    select ${run}, s.resource, s.calls, s.units
    from unnest(
      ${spent.map(({ resource }) => resource)}::text[], ${spent.map(({ calls }) => calls)}::integer[], ${spent.map(({ units }) => units)}::integer[]
    ) as s (resource, calls, units)`)
}

/** Every resource is there, also one that nothing was asked of. */
export async function readSpent(on: Executor, run: number): Promise<Spent[]> {
  const { rows } = await on.query<Spent>(sql`
    select resource, sum(calls)::integer as calls, sum(units)::integer as units
    from collector.spent
    where run = ${run}
    group by resource`)
  return resources.map((resource) => rows.find((row) => row.resource === resource) ?? { resource, calls: 0, units: 0 })
}

/** One row a resource from here on; what runs spent that nobody remembers any more is forgotten with them. */
export async function foldSpent(tx: TransactionClient, run: number): Promise<void> {
  const on = onClient(tx)
  await on.query(sql`
    with gone as (delete from collector.spent where run = ${run} returning resource, calls, units)
    insert into collector.spent (run, resource, calls, units)
    select ${run}, resource, sum(calls), sum(units) from gone group by resource`)
  await on.query(sql`delete from collector.spent where run < (select min(id) from sluice.run)`)
}
