/**
 * Finds the database to work on: the one in `DATABASE_URL` if that is set, else a local PostgreSQL in the data folder.
 * `stop` ends what was started here and leaves a given database alone, so the caller need not care which one it got.
 */
import { type Checks, checkOptions, isRecord, texts } from './options.ts'
import { type LocalPostgres, type LocalPostgresOptions, localPostgresChecks, startLocalPostgres } from './start-local-postgres.ts'

export interface FoundDatabase {
  readonly url: string
  /** The server, if it is a local one. */
  readonly local: LocalPostgres | undefined
  stop(): Promise<void>
}

export interface FindDatabaseOptions extends LocalPostgresOptions {
  readonly env: Record<string, string | undefined>
}

const checks: Checks<FindDatabaseOptions> = {
  env: environment,
  ...localPostgresChecks,
}

export async function findDatabase(options: FindDatabaseOptions): Promise<FoundDatabase> {
  checkOptions('findDatabase', options, checks)
  const { env, ...local } = options
  if (env.DATABASE_URL) return { url: env.DATABASE_URL, local: undefined, stop: async () => {} }
  const server = await startLocalPostgres(local)
  return { url: server.url, local: server, stop: server.stop }
}

/** Nothing else of it is looked at. */
function environment(value: unknown): string | undefined {
  const looked = isRecord(value) ? { DATABASE_URL: value.DATABASE_URL ?? '' } : value
  return texts('process.env, or an object with DATABASE_URL or without')(looked)
}
