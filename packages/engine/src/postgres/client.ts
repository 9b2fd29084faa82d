/**
 * What the engine needs of a connection, and no more: any client with `query(text, values)` can carry an enqueue in its own transaction.
 */
import type { Sql } from 'sql-template-tag'
import { SluiceError } from '../support/errors.ts'
import { checkOptions } from '../support/options.ts'

export interface Rows<R> {
  readonly rows: R[]
}

/** A caller's own client: node-postgres, or anything that speaks like it. */
export interface QueryClient {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>
}

/** The client among the options of a call. With a name that is not known, what was meant to join a transaction would not. */
export function clientOf(call: string, options: { readonly client?: QueryClient } | undefined): QueryClient | undefined {
  if (options === undefined) return undefined
  checkOptions(call, options, ['client'])
  return checkClient(options.client)
}

export function checkClient(client: QueryClient | undefined): QueryClient | undefined {
  if (client === undefined) return undefined
  // A pool sends each statement over whichever connection is free: what was meant to join a transaction would not.
  if (typeof client === 'object' && client !== null && 'totalCount' in client && 'idleCount' in client)
    throw new SluiceError('INVALID_OPTION', {
      field: 'client',
      problem: 'is a pool, which has no transaction; give the client whose transaction is open, or leave it out',
    })
  if (typeof (client as QueryClient | null)?.query === 'function') return client
  throw new SluiceError('INVALID_OPTION', {
    field: 'client',
    problem: 'has no query(text, values); give the client whose transaction is open',
  })
}

/** Answers it. */
export function checkStatement(statement: Sql): Sql {
  const given: Partial<Sql> | undefined = statement
  if (typeof given?.text === 'string' && Array.isArray(given.values)) return statement
  throw new SluiceError('INVALID_OPTION', {
    field: 'statement',
    problem: 'is none of sql-template-tag; write sql`select …`, or give { text, values }',
  })
}

/** A transaction that the engine lends. Do not commit or roll back, and wait for every query: afterwards it refuses. */
export interface TransactionClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
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
