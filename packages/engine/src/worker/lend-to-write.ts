/**
 * The transaction of a settle, lent to a handler's write for as long as the kind lets a handler run.
 *
 * Past that the connection is cut, and the server is asked to end the session: a statement that is under way there would go on with the job's row in
 * its hand, and the end of the attempt would wait for it. What did nothing for a whole lease has been ended by the server already.
 */
import type pg from 'pg'
import { cut } from '../postgres/answers.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import { isRaisedOn, lend } from '../postgres/lend.ts'
import { isStuck, sqlState } from '../postgres/transient.ts'
import type { Clock } from '../support/clock.ts'
import { SluiceError } from '../support/errors.ts'
import type { Writing } from './ended.ts'

const readOnlyStatement = {
  name: 'sluice_read_only',
  text: `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean`,
}
const endStatement = { name: 'sluice_end_session', text: 'select pg_terminate_backend($1)' }

export interface WriteLimit {
  readonly database: Database
  readonly clock: Clock
  readonly limitMs: number
}

const itsOwn = new WeakSet<Error>()

/** A write said that the server cannot store, and it can: the write made its own transaction read-only, or asked another server. */
export function isOwnDoing(error: unknown): boolean {
  return error instanceof Error && itsOwn.has(error)
}

async function isTrue(trouble: Error, client: pg.ClientBase, database: Database): Promise<boolean> {
  if (!isRaisedOn(client, trouble)) return false
  if (sqlState(trouble) !== '25006') return true
  try {
    const [row] = await database.send<[boolean]>(database.hot, readOnlyStatement, [])
    return row?.[0] ?? true
  } catch {
    return true // nor does it answer
  }
}

/** `found` is what `holdText` found. */
export async function lendToWrite(
  { client, found }: Transaction,
  { verdict }: Writing,
  { database, clock, limitMs }: WriteLimit,
): Promise<void> {
  let ending: Promise<unknown> | undefined
  const late = clock.after(limitMs, () => {
    ending = database.send(database.hot, endStatement, [found[0]?.[0]]).catch(() => {})
    cut(client)
  })
  try {
    await lend(client, verdict.write)
  } catch (error) {
    if (!ending) {
      if (isStuck(error) && error instanceof Error && !(await isTrue(error, client, database))) itsOwn.add(error)
      throw error
    }
    await ending
    throw new SluiceError('HANDLER_TIMED_OUT', { limitMs }, error)
  } finally {
    late.cancel()
  }
}
