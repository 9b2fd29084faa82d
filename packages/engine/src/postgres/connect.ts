/**
 * Turns what goes wrong between us and PostgreSQL into errors that say what to do.
 */
import type pg from 'pg'
import { SluiceError } from '../support/errors.ts'
import { isConnectionLoss, sqlState } from './transient.ts'

const versionMin = 150_000

export function checkUrl(database: string): string {
  let url: URL
  try {
    url = new URL(database)
  } catch (cause) {
    throw new SluiceError('DATABASE_URL_INVALID', { reason: 'it is not a URL' }, cause)
  }
  if (!['postgres:', 'postgresql:', 'socket:'].includes(url.protocol))
    throw new SluiceError('DATABASE_URL_INVALID', { reason: `it begins with "${url.protocol}//"` })
  return database
}

const notLetIn = 'Check user, password and database name'
const rightMissing = 'Give the role this right, or let one that has it run `sluice migrate`'
const noTls = 'Switch TLS on in the server, or leave out sslmode'

export function explainConnect(error: unknown): unknown {
  if (error instanceof SluiceError) return error
  const state = sqlState(error) ?? ''
  const reason = error instanceof Error ? error.message || state : String(error)
  // The driver itself says "SASL" when a password is asked for and none was given.
  if (state.startsWith('28') || state === '3D000' || reason.startsWith('SASL'))
    return new SluiceError('DATABASE_REFUSED', { reason, advice: notLetIn }, error)
  if (state === '42501') return new SluiceError('DATABASE_REFUSED', { reason, advice: rightMissing }, error)
  if (reason === 'The server does not support SSL connections')
    return new SluiceError('DATABASE_REFUSED', { reason: 'it does not speak TLS', advice: noTls }, error)
  if (state === '25006') return new SluiceError('DATABASE_READ_ONLY', {}, error)
  if (isConnectionLoss(error) || error instanceof AggregateError)
    return new SluiceError('DATABASE_UNREACHABLE', { reason }, error)
  return error
}

/** Refuses a server that can never work before anything is started on it. */
export async function checkServer(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  const { rows } = await client.query<{ version: number; label: string; read_only: boolean }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as label,
            pg_is_in_recovery() or current_setting('transaction_read_only')::bool as read_only`,
  )
  const server = rows[0]
  if (server === undefined) throw new SluiceError('DATABASE_UNREACHABLE', { reason: 'it gave an empty answer' })
  if (server.version < versionMin) throw new SluiceError('POSTGRES_TOO_OLD', { version: server.label })
  if (server.read_only) throw new SluiceError('DATABASE_READ_ONLY')
}
