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
const rightMissing =
  "Give the role this right, or let one that has it run `sluice migrate` and then select sluice.admit('…') with the name of this role"
const tooMany = 'Raise the limit of the server or of the role: a process takes up to 12 connections, and `poolMax` more'
const notUtf8 = "Give one that was made so: create database … encoding 'UTF8' template template0"
const noTls = 'Switch TLS on in the server, or leave out sslmode'

export function explainConnect(error: unknown): unknown {
  if (error instanceof SluiceError) return error
  const state = sqlState(error) ?? ''
  const reason = error instanceof Error ? error.message || state : String(error)
  // The driver itself says "SASL" when a password is asked for and none was given.
  if (state.startsWith('28') || state === '3D000' || reason.startsWith('SASL'))
    return new SluiceError('DATABASE_REFUSED', { reason, advice: notLetIn }, error)
  if (state === '53300') return new SluiceError('DATABASE_REFUSED', { reason, advice: tooMany }, error)
  if (state === '42501') return new SluiceError('DATABASE_REFUSED', { reason, advice: rightMissing }, error)
  if (reason === 'The server does not support SSL connections')
    return new SluiceError('DATABASE_REFUSED', { reason: 'it does not speak TLS', advice: noTls }, error)
  if (state === '25006') return new SluiceError('DATABASE_READ_ONLY', {}, error)
  if (isConnectionLoss(error) || error instanceof AggregateError)
    return new SluiceError('DATABASE_UNREACHABLE', { reason }, error)
  return error
}

/** For a `catch` that has nothing else to do. */
export function explained(error: unknown): never {
  throw explainConnect(error)
}

/** Under which the engine's statements mean what they say. `cure` is what to set instead. */
const settings: {
  readonly setting: string
  readonly fits: (value: string) => boolean
  readonly needed: string
  readonly cure: string
}[] = [
  { setting: 'DateStyle', fits: (value) => value.startsWith('ISO'), needed: 'ISO', cure: 'ISO' },
  {
    setting: 'default_transaction_isolation',
    fits: (value) => value === 'read committed',
    needed: 'read committed',
    cure: "'read committed'",
  },
  { setting: 'array_nulls', fits: (value) => value === 'on', needed: 'on', cure: 'on' },
  { setting: 'standard_conforming_strings', fits: (value) => value === 'on', needed: 'on', cure: 'on' },
  { setting: 'extra_float_digits', fits: (value) => Number(value) >= 0, needed: '0 or more', cure: '1' },
  ...['statement_timeout', 'transaction_timeout', 'lock_timeout'].map((setting) => ({
    setting,
    fits: (ms: string) => Number(ms) === 0 || Number(ms) >= 1_000,
    needed: 'none, or a second and more',
    cure: '0',
  })),
]

interface Server {
  readonly version: number
  readonly label: string
  readonly read_only: boolean
  readonly encoding: string
  readonly role: string
  readonly settings: Readonly<Record<string, string>>
}

/** Refuses a server that can never work before anything is started on it. */
export async function checkServer(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  const { rows } = await client.query<Server>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as label, current_user as role,
            current_setting('server_encoding') as encoding, pg_is_in_recovery() or current_setting('transaction_read_only')::bool as read_only,
            (select json_object_agg(name, setting) from pg_settings where name in (${settings.map(({ setting }) => `'${setting}'`).join(', ')})) as settings`,
  )
  const server = rows[0]
  if (server === undefined) throw new SluiceError('DATABASE_UNREACHABLE', { reason: 'it gave an empty answer' })
  if (server.version < versionMin) throw new SluiceError('POSTGRES_TOO_OLD', { version: server.label })
  if (server.read_only) throw new SluiceError('DATABASE_READ_ONLY')
  if (server.encoding !== 'UTF8')
    throw new SluiceError('DATABASE_REFUSED', {
      reason: `its encoding is ${server.encoding}, which has no place for some characters`,
      advice: notUtf8,
    })
  for (const { setting, fits, needed, cure } of settings) {
    const value = server.settings[setting]
    if (value !== undefined && !fits(value))
      throw new SluiceError('DATABASE_SETTING', { setting, value, needed, cure, role: server.role })
  }
}
