/**
 * The proof: what should have happened, compared with what the database says has happened.
 *
 * Orders were written in the same transaction as their job, so `demo.orders` is the list of what was promised: each order, and each of its items.
 * Every promise must stand exactly once in `demo.effect`, its job in the ledger, and until it does there must be a live job that will see to it. One statement has one
 * snapshot, so the count is right while the workers run as well.
 */
import type { Client } from 'pg'
import { type Tariff, tenants } from './tenants.ts'

export interface Proof {
  readonly orders: number
  readonly items: number
  readonly done: number
  readonly waiting: number
  /** Promised, not done, and no job left that would do it. */
  readonly lost: number
  /** Done more than once: too many effects, or finished twice in the ledger. */
  readonly doubled: number
  /** Done although nobody promised it: an order whose transaction was rolled back. */
  readonly unexpected: number
  /** Calls of tenants that are done, and those past a budget: counted by the server that gave it. */
  readonly calls: number
  readonly overdrawn: number
  readonly windows: number
  readonly rescued: number
  readonly retried: number
}

const count = `
  with promise as (
    select o.id as order_id, item from demo.orders o cross join lateral generate_series(0, o.items) as item),
  effect as (
    select order_id, item, count(*) as times,
           bool_and(exists (select from sluice.job_ledger l where l.id = e.job and l.state = 'succeeded')) as booked
    from demo.effect e group by order_id, item),
  live as (
    select (payload ->> 'order')::int as order_id, coalesce((payload ->> 'item')::int, 0) as item from sluice.job where kind in ('order.place', 'item.pack')),
  book as (
    select coalesce(e.booked, false) as done,
           -- an item waits in a job of its own, or in its order's job as long as that has not fanned out
           exists (select from live l where l.order_id = p.order_id and l.item in (0, p.item)) as waits
    from promise p left join effect e using (order_id, item))
  select (select count(*) from demo.orders)::int as orders,
         (select coalesce(sum(items), 0) from demo.orders)::int as items,
         (select count(*) from book where done)::int as done,
         (select count(*) from book where not done and waits)::int as waiting,
         (select count(*) from book where not done and not waits)::int as lost,
         ((select coalesce(sum(times - 1), 0) from effect where times > 1)
          + (select count(*) - count(distinct (tenant, n)) from demo.call)
          + (select count(*) - count(distinct id) from sluice.job_ledger where state = 'succeeded'))::int as doubled,
         ((select count(*) from effect e where not exists (select from demo.orders o where o.id = e.order_id))
          + (select count(*) from live l where not exists (select from demo.orders o where o.id = l.order_id)))::int as unexpected,
         (select count(distinct (tenant, n)) from demo.call)::int as calls,
         (select count(*) from sluice.attempt where outcome = 'lost')::int as rescued,
         (select count(*) from sluice.attempt where outcome = 'retry')::int as retried`

export async function countProof(client: Client, { overdrawn, windows }: Tariff): Promise<Proof> {
  const { rows } = await client.query<Proof>(count)
  return { ...(rows[0] as Proof), overdrawn, windows }
}

export const plannedCalls = tenants.reduce((sum, { calls }) => sum + calls, 0)

export const holds = ({ orders, items, done, lost, doubled, unexpected, calls, overdrawn }: Proof): boolean =>
  done === orders + items && lost === 0 && doubled === 0 && unexpected === 0 && calls === plannedCalls && overdrawn === 0
