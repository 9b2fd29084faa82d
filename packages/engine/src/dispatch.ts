/**
 * Which dispatcher an engine has: PostgreSQL alone, or Redis in front of it when an address is given. docs/redis.md tells when to choose which.
 */
import type { Dispatcher } from './dispatch/dispatcher.ts'
import { PostgresDispatcher } from './dispatch/postgres/postgres-dispatcher.ts'
import { RedisDispatcher } from './dispatch/redis/redis-dispatcher.ts'
import type { Settled } from './options.ts'
import type { Database } from './postgres/database.ts'
import type { Observer } from './support/fact.ts'

export function createDispatcher(
  { redis, clock, log, leaseMs, name }: Settled,
  database: Database,
  priorityStepMs: () => number,
  tell: Observer,
): Dispatcher {
  return redis
    ? new RedisDispatcher({ ...redis, database, clock, log, leaseMs, name, priorityStepMs, tell })
    : new PostgresDispatcher(database, clock)
}
