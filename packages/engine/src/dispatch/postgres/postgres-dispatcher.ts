/**
 * Dispatch by PostgreSQL alone: a notification or the heartbeat wakes the pools, and each claims what comes first.
 */
import type { Database } from '../../postgres/database.ts'
import type { Clock } from '../../support/clock.ts'
import type { Demand, Dispatcher, DispatchStatus, Door, Supply } from '../dispatcher.ts'
import { claimJobs, claimLaned } from './claim.ts'
import { PostgresSupply } from './postgres-supply.ts'

export class PostgresDispatcher implements Dispatcher {
  readonly status: DispatchStatus = { by: 'postgres', instead: undefined, since: undefined, leads: false }
  readonly announces = false
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  supply(demand: Demand, door: Door): Supply {
    const database = this.#database
    const pool = demand.name
    const asking = (): { pool: string; worker: number; unknownKinds: string[] } => ({
      pool,
      worker: door.worker(),
      unknownKinds: door.unknownKinds(),
    })
    return new PostgresSupply(demand, {
      clock: this.#clock,
      claim: async (slots, since) => {
        const found = await door.pass(pool, async () => ({ claims: await claimJobs(database, { ...asking(), slots, since }) }))
        return found?.claims ?? []
      },
      claimLaned: async (slots, ahead) => {
        const found = await door.pass(pool, () => claimLaned(database, { ...asking(), slots, ahead }))
        return found ?? { claims: [], again: false, moved: false }
      },
    })
  }

  /** The notification that went out with the commit is the offer. */
  offer(): void {}

  acknowledge(): void {}

  hear(): void {}

  onBeat(): void {}

  async measure(): Promise<[]> {
    return []
  }
}
