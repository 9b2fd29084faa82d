/**
 * The ledger's days are made ahead by the leader. Where none led for a week a day is missing, and whoever ends a job makes it.
 */
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import { sqlState } from '../postgres/transient.ts'

const tablesByDay = ['job_ledger', 'attempt', 'job_log']

/**
 * A row that fits no partition is a check violation without a constraint; the message depends on the server's language. Handlers write to
 * tables of their own in the same transaction, and what is missing there is theirs to make.
 */
export function isMissingDay(error: unknown): boolean {
  if (sqlState(error) !== '23514') return false
  const { constraint, schema, table } = error as { constraint?: string; schema?: string; table?: string }
  return constraint === undefined && schema === 'sluice' && tablesByDay.includes(table ?? '')
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
