/**
 * Connections for our own housekeeping: one client, a few statements, closed again.
 */
import { Client } from 'pg'
import { socketUrl } from '../folder/socket-folder.ts'

export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Whether the server answers. A server that is starting, recovering or stopping does not, yet or any more. */
export async function answers(socketFolder: string): Promise<boolean> {
  return withClient(socketUrl(socketFolder, 'postgres'), (client) => client.query('select 1')).then(
    () => true,
    () => false,
  )
}

export async function ensureDatabase(socketFolder: string, name: string): Promise<void> {
  await withClient(socketUrl(socketFolder, 'postgres'), async (client) => {
    const found = await client.query('select from pg_database where datname = $1', [name])
    if (found.rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`)
  })
}
