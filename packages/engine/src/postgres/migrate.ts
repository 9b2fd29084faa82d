/**
 * Brings the schema up to date: numbered SQL files, forward only, any number of processes at once.
 *
 * One advisory lock lets a single process migrate while the others wait and then find nothing to do. Each file may say
 * `-- compatible-from: N`: engines that know migration N or later go on working beside it. An engine that finds a schema newer than it
 * knows starts as long as the schema is still compatible with it. Packages that stand on the engine bring a folder of their own, which is
 * numbered by itself and comes after the engine's, in the same transaction.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { SluiceError } from '../support/errors.ts'
import { checkServer, checkUrl, explainConnect } from './connect.ts'

const engineSet: MigrationSet = { name: 'engine', folder: new URL('../../migrations/', import.meta.url) }
const lockKey = 7_158_423_001

/** The migrations of one package. */
export interface MigrationSet {
  /** Stored with each file that was applied: the name of the package. */
  readonly name: string
  /** Where its numbered SQL files are; ends with a slash. */
  readonly folder: URL
  /** Its own schema, if it has one: what the role of a process lacks there is said at the start. */
  readonly schema?: string
}

export interface Migrated {
  readonly applied: string[]
  /** Of the engine's own schema. */
  readonly version: number
}

interface Migration {
  readonly number: number
  readonly file: string
  readonly text: string
  readonly digest: string
  readonly compatibleFrom: number
}

export async function migrate(database: string, sets: readonly MigrationSet[] = []): Promise<Migrated> {
  return withKnown(database, sets, migrateOn)
}

/** What `migrate` would apply. Changes nothing. */
export async function pendingMigrations(database: string, sets: readonly MigrationSet[] = []): Promise<string[]> {
  return withKnown(database, sets, async (client, known) => {
    const rows = (await hasTable(client)) ? await appliedRows(client) : []
    return known.flatMap(({ name, files }) => {
      const earlier = rows.filter((row) => row.package === name)
      refuseIncompatible(name, files, earlier)
      return files.filter((migration) => !isApplied(migration, earlier)).map(({ file }) => file)
    })
  })
}

/** Of the engine's own, which come first. */
const firstFile = '0001_tables.sql'

/** For processes that may not migrate. */
export async function checkSchema(database: string, sets: readonly MigrationSet[]): Promise<void> {
  const pending = await pendingMigrations(database, sets)
  if (pending.length === 0) return
  const isEmpty = pending[0] === firstFile
  const missing = isEmpty ? 'everything: there is no Sluice in it, so it may be the wrong database' : pending.join(', ')
  throw new SluiceError('SCHEMA_BEHIND', { missing })
}

async function withKnown<T>(
  database: string,
  sets: readonly MigrationSet[],
  act: (client: pg.ClientBase, known: KnownSet[]) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: checkUrl(database),
    application_name: 'sluice migrate',
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await checkServer(client)
    const known = await Promise.all(
      [engineSet, ...sets].map(async (set) => ({ name: set.name, files: await readMigrations(set) })),
    )
    return await act(client, known)
  } catch (error) {
    throw explainConnect(error)
  } finally {
    await client.end().catch(() => {})
  }
}

async function readMigrations({ folder }: MigrationSet): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}_.*\.sql$/.test(file)).toSorted()
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, folder), 'utf8')
      const number = Number(file.slice(0, 4))
      const compatibleFrom = Number(/^-- compatible-from: (\d+)$/m.exec(text)?.[1] ?? 1)
      return { number, file, text, digest: createHash('sha256').update(text).digest('hex'), compatibleFrom }
    }),
  )
}

interface KnownSet {
  readonly name: string
  readonly files: readonly Migration[]
}

interface AppliedRow {
  readonly package: string
  readonly number: number
  readonly digest: string
  readonly compatible_from: number
}

async function migrateOn(client: pg.ClientBase, sets: readonly KnownSet[]): Promise<Migrated> {
  // Most processes find nothing to do: these wait for nobody.
  const found = (await hasTable(client)) ? await appliedRows(client) : []
  const isDone = ({ name, files }: KnownSet): boolean => {
    const rows = found.filter((row) => row.package === name)
    return refuseIncompatible(name, files, rows) > 0 && files.every((migration) => isApplied(migration, rows))
  }
  if (sets.every(isDone)) return { applied: [], version: Math.max(...found.filter(isOfEngine).map(({ number }) => number)) }
  await client.query('begin')
  try {
    // Transaction-scoped, so that it works through poolers and cannot be left behind.
    await client.query('select pg_advisory_xact_lock($1)', [lockKey])
    // Asked first, because "if not exists" needs the right to create even where there is nothing to do.
    if (!(await hasTable(client))) {
      await client.query('create schema if not exists sluice')
      await client.query(`create table sluice.migration (
        package text not null, number integer not null, file text not null, digest text not null, compatible_from integer not null,
        applied_at timestamptz not null default clock_timestamp(), primary key (package, number))`)
    }
    const rows = await appliedRows(client)
    const migrated = []
    for (const { name, files } of sets)
      migrated.push(
        await applySet(
          client,
          { name, files },
          rows.filter((row) => row.package === name),
        ),
      )
    await client.query('commit')
    return { applied: migrated.flatMap(({ applied }) => applied), version: migrated[0]?.version ?? 0 }
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

const isOfEngine = (row: AppliedRow): boolean => row.package === engineSet.name

async function hasTable(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query(`select from pg_tables where schemaname = 'sluice' and tablename = 'migration'`)
  return rows.length > 0
}

async function appliedRows(client: pg.ClientBase): Promise<AppliedRow[]> {
  const { rows } = await client.query<AppliedRow>('select package, number, digest, compatible_from from sluice.migration')
  return rows
}

/** Answers the highest migration that this process knows. */
function refuseIncompatible(name: string, files: readonly Migration[], rows: readonly AppliedRow[]): number {
  const knows = files.at(-1)?.number ?? 0
  const needs = Math.max(0, ...rows.map((row) => row.compatible_from))
  if (needs > knows) throw new SluiceError('SCHEMA_INCOMPATIBLE', { package: name, needs, knows })
  return knows
}

function isApplied(
  { number, file, digest }: Pick<Migration, 'number' | 'file' | 'digest'>,
  rows: readonly AppliedRow[],
): boolean {
  const earlier = rows.find((row) => row.number === number)
  if (earlier && earlier.digest !== digest) throw new SluiceError('SCHEMA_CHANGED', { file })
  return earlier !== undefined
}

async function applySet(client: pg.ClientBase, { name, files }: KnownSet, rows: readonly AppliedRow[]): Promise<Migrated> {
  const knows = refuseIncompatible(name, files, rows)
  const applied: string[] = []
  for (const { number, file, text, digest, compatibleFrom } of files) {
    if (isApplied({ number, file, digest }, rows)) continue
    await client.query(text)
    await client.query(
      'insert into sluice.migration (package, number, file, digest, compatible_from) values ($1, $2, $3, $4, $5)',
      [name, number, file, digest, compatibleFrom],
    )
    applied.push(file)
  }
  return { applied, version: Math.max(knows, ...rows.map((row) => row.number)) }
}
