/**
 * The shop: takes orders, each in a transaction that writes the order and enqueues its job. Now and then a customer changes their mind and the
 * transaction is rolled back; that must leave nothing.
 */
import { createEngine, type Engine, silentLog } from '@sluice/engine'
import { Client } from 'pg'
import { callServer, kinds, placeOrder, tables } from './kinds.ts'
import { floor, laneOf, tenants } from './tenants.ts'

const itemsOf = (order: number): number => 3 + (order % 3)
const changesMind = (order: number): boolean => order % 15 === 7

/** How many jobs the first orders make, items included. */
export function plannedJobs(orders: number): number {
  let planned = 0
  for (let order = 1, taken = 0; taken < orders; order++)
    if (!changesMind(order)) {
      planned += 1 + itemsOf(order)
      taken++
    }
  return planned
}

export class Shop {
  readonly #engine: Engine
  readonly #client: Client
  #last = 0
  placed = 0
  rolledBack = 0

  constructor(database: string) {
    const lanes = { [laneOf('*')]: { budget: { floor } } }
    this.#engine = createEngine({ database, kinds, lanes, log: silentLog })
    this.#client = new Client({ connectionString: database, application_name: 'demo shop' })
    this.#client.on('error', () => {})
  }

  async open(): Promise<void> {
    await this.#engine.migrate()
    await this.#client.connect()
    await this.#client.query(tables)
  }

  /** One order; a customer who changes their mind is followed by one who does not. */
  async takeOrder(): Promise<void> {
    const order = ++this.#last
    const items = itemsOf(order)
    await this.#client.query('begin')
    await this.#client.query('insert into demo.orders (id, items) values ($1, $2)', [order, items])
    await this.#engine.enqueue(placeOrder({ order, items }), { client: this.#client })
    if (changesMind(order)) {
      await this.#client.query('rollback')
      this.rolledBack++
      return this.takeOrder()
    }
    await this.#client.query('commit')
    this.placed++
  }

  /** All that the tenants want to know, at once; their budgets say how fast. */
  async admitTenants(): Promise<void> {
    for (const { name: tenant, calls } of tenants)
      await this.#engine.enqueueMany(Array.from({ length: calls }, (_, n) => callServer({ tenant, n })))
  }

  async close(): Promise<void> {
    await this.#engine.stop()
    await this.#client.end()
  }
}
