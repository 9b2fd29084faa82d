/**
 * What the demo's workers do: an order fans out into its items, and every job notes itself in the same transaction that ends it.
 *
 * `demo.effect` has no unique key on purpose: a job that took effect twice would stand there twice. Waiting, failing and being delayed follow
 * from the numbers of the order, so every run of the demo tells the same story.
 */
import { type AnyKind, defineKind, delays, done, type TransactionClient } from '@sluice/engine'
import { z } from 'zod'
import { laneOf } from './tenants.ts'

/** What a worker process lends to its handlers. */
export interface Workbench {
  work(label: string, ms: number, signal: AbortSignal): Promise<void>
  /** Where the tenants' calls go. */
  readonly server: string
}

export const tables = `
  create schema demo;
  create table demo.orders (id integer primary key, items integer not null);
  create table demo.effect (
    order_id integer not null,
    item     integer not null,          -- 0 stands for the order itself
    job      bigint not null,
    pid      integer not null,
    at       timestamptz not null default clock_timestamp());
  create table demo.call (tenant text not null, n integer not null)`

const workMs = (order: number, item: number): number => 100 + ((order * 37 + item * 53) % 200)
const failsFirst = (order: number, item: number): boolean => (order * 5 + item) % 12 === 0
const isDelayed = (order: number, item: number): boolean => (order + item) % 8 === 0

export const placeOrder = defineKind('order.place', {
  payload: z.object({ order: z.int(), items: z.int().min(1).max(9) }),
  async run({ id, payload: { order, items }, signal }, workbench: Workbench) {
    await workbench.work(`places order ${order}`, workMs(order, 0), signal)
    return done({
      write: (tx) => noteEffect(tx, order, 0, id),
      next: Array.from({ length: items }, (_, index) => packing(order, index + 1)),
    })
  },
})

const packItem = defineKind('item.pack', {
  payload: z.object({ order: z.int(), item: z.int() }),
  retry: delays(['500ms', '1s', '2s', '2s']),
  async run({ id, payload: { order, item }, attempt, signal }, workbench: Workbench) {
    await workbench.work(`packs item ${item} of order ${order}`, workMs(order, item), signal)
    if (attempt === 1 && failsFirst(order, item)) throw new Error('the label printer is out of paper')
    return done({ write: (tx) => noteEffect(tx, order, item, id) })
  },
})

export const callServer = defineKind('tenant.call', {
  payload: z.object({ tenant: z.string(), n: z.int() }),
  lane: ({ payload }) => laneOf(payload.tenant),
  retry: delays(['500ms', '1s', '2s', '2s']),
  async run({ payload: { tenant, n }, report, signal }, workbench: Workbench) {
    const { headers, ok } = await fetch(`${workbench.server}/${tenant}`, { signal })
    report({ remaining: Number(headers.get('x-remaining')), resetAt: new Date(Number(headers.get('x-reset-ms'))) })
    if (!ok) throw new Error('the server refused: the budget is used up')
    return done({ write: (tx) => tx.query('insert into demo.call (tenant, n) values ($1, $2)', [tenant, n]) })
  },
})

export const kinds: readonly AnyKind[] = [placeOrder, packItem, callServer]

const packing = (order: number, item: number) => packItem({ order, item }, isDelayed(order, item) ? { delay: '1500ms' } : {})

const noteEffect = (tx: TransactionClient, order: number, item: number, job: number): Promise<unknown> =>
  tx.query('insert into demo.effect (order_id, item, job, pid) values ($1, $2, $3, $4)', [order, item, job, process.pid])
