/**
 * Changes of lanes and owners: one row each, and a clear word when somebody's open transaction stands in the way.
 */
import sql, { type Sql } from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import { sqlState } from '../postgres/transient.ts'
import { SluiceError } from '../support/errors.ts'

/** Fields that are left out stay as they are. */
export function changeLane(on: Executor, name: string, change: object): Promise<void> {
  return send(on, sql`select sluice.change_lane(${name}, ${JSON.stringify(change)}::jsonb)`)
}

export function changeOwner(on: Executor, name: string, change: object): Promise<void> {
  return send(on, sql`select sluice.change_owner(${name}, ${JSON.stringify(change)}::jsonb)`)
}

export function syncLane(on: Executor, name: string, said: object): Promise<void> {
  return send(on, sql`select sluice.sync_lane(${name}, ${JSON.stringify([said])}::jsonb)`)
}

async function send(on: Executor, statement: Sql): Promise<void> {
  try {
    await on.query(statement)
  } catch (error) {
    if (sqlState(error) !== 'SL007') throw error
    throw new SluiceError('IN_OPEN_TRANSACTION', { problem: (error as Error).message }, error)
  }
}
