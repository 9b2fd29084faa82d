/**
 * What the engine needs of a connection, and no more: any client with `query(text, values)` can carry an enqueue in its own transaction.
 */
import type { Sql } from 'sql-template-tag'

export interface Rows<R> {
  readonly rows: R[]
}

/** A caller's own client: node-postgres, or anything that speaks like it. */
export interface QueryClient {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>
}

/** What store functions take: the pool, a connection, or a transaction on one. */
export interface Executor {
  query<R>(statement: Sql): Promise<Rows<R>>
}
