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

/** Store functions on a caller's own client, so that what they do commits with the caller's transaction. */
export function onClient(client: QueryClient): Executor {
  return {
    query: async <R>({ text, values }: Sql): Promise<Rows<R>> => ({ rows: (await client.query(text, values)).rows as R[] }),
  }
}
