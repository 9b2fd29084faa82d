/**
 * Cuts a connection without a word: what waits for an answer on it fails at once, and its pool opens another.
 */
import type { Duplex } from 'node:stream'
import type pg from 'pg'

export function cut(client: pg.ClientBase): void {
  ;(client as unknown as { connection: { stream: Duplex } }).connection.stream.destroy()
}
