/**
 * Brings the schema up to date: numbered SQL files, forward only, any number of processes at once.
 *
 * One advisory lock lets a single process migrate while the others wait and then find nothing to do. Each file may say
 * `-- compatible-from: N`: engines that know migration N or later go on working beside it. An engine that finds a schema newer than it
 * knows starts as long as the schema is still compatible with it.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { SluiceError } from '../support/errors.ts'
import { checkServer, checkUrl, explainConnect } from './connect.ts'

const folder = new URL('../../migrations/', import.meta.url)
const lockKey = 7_158_423_001

export interface Migrated {
  readonly applied: string[]
  readonly version: number
}

interface Migration {
  readonly number: number
  readonly file: string
  readonly text: string
  readonly digest: string
  readonly compatibleFrom: number
}

export async function migrate(database: string): Promise<Migrated> {
  const client = new pg.Client({
    connectionString: checkUrl(database),
    application_name: 'sluice migrate',
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await checkServer(client)
    return await migrateOn(client, await readMigrations())
  } catch (error) {
    throw explainConnect(error)
  } finally {
    await client.end().catch(() => {})
  }
}

async function readMigrations(): Promise<Migration[]> {
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

async function migrateOn(client: pg.ClientBase, known: Migration[]): Promise<Migrated> {
  await client.query('begin')
  try {
    // Transaction-scoped, so that it works through poolers and cannot be left behind.
    await client.query('select pg_advisory_xact_lock($1)', [lockKey])
    const { rows: found } = await client.query(`select from pg_tables where schemaname = 'sluice' and tablename = 'migration'`)
    // Asked first, because "if not exists" needs the right to create even where there is nothing to do.
    if (found.length === 0) {
      await client.query('create schema if not exists sluice')
      await client.query(`create table sluice.migration (
        number integer primary key, file text not null, digest text not null, compatible_from integer not null,
        applied_at timestamptz not null default clock_timestamp())`)
    }
    const { rows } = await client.query<{ number: number; file: string; digest: string; compatible_from: number }>(
      'select number, file, digest, compatible_from from sluice.migration order by number',
    )
    const knows = known.at(-1)?.number ?? 0
    const needs = Math.max(0, ...rows.map((row) => row.compatible_from))
    if (needs > knows) throw new SluiceError('SCHEMA_INCOMPATIBLE', { needs, knows })
    const applied: string[] = []
    for (const migration of known) {
      const earlier = rows.find((row) => row.number === migration.number)
      if (earlier && earlier.digest !== migration.digest) throw new SluiceError('SCHEMA_CHANGED', { file: migration.file })
      if (earlier) continue
      await client.query(migration.text)
      await client.query('insert into sluice.migration (number, file, digest, compatible_from) values ($1, $2, $3, $4)', [
        migration.number,
        migration.file,
        migration.digest,
        migration.compatibleFrom,
      ])
      applied.push(migration.file)
    }
    await client.query('commit')
    return { applied, version: Math.max(knows, ...rows.map((row) => row.number)) }
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}
