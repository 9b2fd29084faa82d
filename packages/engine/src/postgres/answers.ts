/**
 * What a server owes: a connection that broke without a word (a firewall, a pulled cable) would keep whoever waits for an answer on it for ever. Past
 * its limit it is cut; what waits fails at once, and its pool opens another.
 */
import type { Duplex } from 'node:stream'
import type pg from 'pg'
import type { Clock } from '../support/clock.ts'

/** How long a call may go without an answer before its connection counts as broken. */
export interface AnswerLimit {
  readonly limitMs: number
  readonly clock: Clock
}

export function cut(client: pg.ClientBase): void {
  ;(client as unknown as { connection: { stream: Duplex } }).connection.stream.destroy()
}

/** `asked` is what was asked on this connection. Without a limit it may take for ever. */
export async function answered<T>(client: pg.ClientBase, limit: AnswerLimit | undefined, asked: Promise<T>): Promise<T> {
  const late = limit?.clock.after(limit.limitMs, () => cut(client))
  try {
    return await asked
  } finally {
    late?.cancel()
  }
}
