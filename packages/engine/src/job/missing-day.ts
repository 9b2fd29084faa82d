/**
 * The ledger's days are made ahead by the leader. Where none led for a week a day is missing, and whoever ends a job makes it.
 */
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import { sqlState } from '../postgres/transient.ts'

/** A row that fits no partition is a check violation without a constraint; the message depends on the server's language. */
export function isMissingDay(error: unknown): boolean {
  return sqlState(error) === '23514' && (error as { constraint?: string }).constraint === undefined
}

export async function addDays(on: Executor): Promise<void> {
  await on.query(sql`select sluice.add_days((sluice.now() at time zone 'UTC')::date, 7)`)
}

/** For statements that are a transaction of their own: if the day was missing they are sent again. */
export async function withDays<T>(on: Executor, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!isMissingDay(error)) throw error
    await addDays(on)
    return act()
  }
}
