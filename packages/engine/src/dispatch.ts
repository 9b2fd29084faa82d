/**
 * Which dispatcher an engine has: PostgreSQL alone, or Redis in front of it when an address is given. docs/redis.md tells when to choose which.
 */
import type { Dispatcher } from './dispatch/dispatcher.ts'
import { PostgresDispatcher } from './dispatch/postgres/postgres-dispatcher.ts'
import type { Settled } from './options.ts'
import type { Database } from './postgres/database.ts'

export function createDispatcher({ clock }: Settled, database: Database): Dispatcher {
  return new PostgresDispatcher(database, clock)
}
