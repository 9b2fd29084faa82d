/**
 * The one PostgreSQL of a run: the embedded version 18, in a temporary folder, reached by its socket, gone afterwards.
 *
 * The test harness it comes from does not force writes to disk; a bench does. Memory and log size are what anybody would set
 * on a machine of this size, the same for everyone, so that no round is hit by a checkpoint that another round earned.
 */
import { createTestDatabase, startTestServer } from '@sluice/local-postgres/testing'
import { Client } from 'pg'

const settings = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_utility': 'off',
  max_connections: '300',
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
}

export interface Database {
  readonly url: string
  readonly name: string
  drop(): Promise<void>
}

export interface Postgres {
  readonly version: string
  createDatabase(): Promise<Database>
  copyDatabase(source: Database): Promise<Database>
  /** Asked in the database `postgres`, so that it is counted among nobody's statements. */
  ask<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  stop(): Promise<void>
}

export async function startPostgres(): Promise<Postgres> {
  const server = await startTestServer({ settings })
  const ask = async <Row extends object>(text: string, values: unknown[] = []) =>
    within(server.url, async (client) => (await client.query<Row>(text, values)).rows)
  await ask('create extension if not exists pg_stat_statements')
  const [version] = await ask<{ server_version: string }>('show server_version')
  return {
    version: version?.server_version ?? 'unknown',
    createDatabase: async () => named(await server.createDatabase()),
    copyDatabase: async ({ name }) => named(await createTestDatabase({ serverUrl: server.url, template: name })),
    ask,
    async stop() {
      await server.kill9() // nothing in it is worth a last checkpoint
      await server.stop()
    },
  }
}

export async function within<Result>(url: string, act: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await act(client)
  } finally {
    await client.end()
  }
}

const named = (database: { url: string; drop(): Promise<void> }): Database => ({
  url: database.url,
  name: new URL(database.url).pathname.slice(1),
  drop: () => database.drop(),
})
