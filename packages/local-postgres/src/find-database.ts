/**
 * Finds the database to work on: the one in `DATABASE_URL` if that is set, else a local PostgreSQL in the data folder.
 * `stop` ends what was started here and leaves a given database alone, so the caller need not care which one it got.
 */
import { type LocalPostgres, type LocalPostgresOptions, startLocalPostgres } from './start-local-postgres.ts'

export interface FoundDatabase {
  readonly url: string
  /** The server, if it is a local one. */
  readonly local: LocalPostgres | undefined
  stop(): Promise<void>
}

export interface FindDatabaseOptions extends LocalPostgresOptions {
  readonly env: Record<string, string | undefined>
}

export async function findDatabase({ env, ...options }: FindDatabaseOptions): Promise<FoundDatabase> {
  if (env.DATABASE_URL) return { url: env.DATABASE_URL, local: undefined, stop: async () => {} }
  const local = await startLocalPostgres(options)
  return { url: local.url, local, stop: local.stop }
}
