/**
 * A second connection for tests whose own is in the middle of a transaction, and what it can see of the server: who waits for a lock.
 */
import pg from 'pg'
import { eventually } from './database.ts'

export async function withOnlooker(url: string, act: (onlooker: pg.Client) => Promise<unknown>): Promise<void> {
  const onlooker = new pg.Client(url)
  await onlooker.connect()
  try {
    await act(onlooker)
  } finally {
    await onlooker.end()
  }
}

/** Resolves when a statement that contains `text` waits for a lock, or so many of them. */
export async function serverWaits(onlooker: pg.Client, text: string, count = 1): Promise<void> {
  await eventually(async () => {
    const { rows } = await onlooker.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and strpos(query, $1) > 0`,
      [text],
    )
    return rows.length >= count
  })
}
