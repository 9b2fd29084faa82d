/**
 * Test database: a private copy of a prepared template, so that each test file starts from the migrated schema at the
 * price of copying some files.
 *
 * All it needs is two strings, so a worker process can call it for a server that another process started. Copying files
 * took 23 ms on two idle cores, writing their pages through the log (`wal_log`, PostgreSQL's own choice) 37 ms.
 */
import { randomBytes } from 'node:crypto'
import type { DatabaseError } from 'pg'
import { type Checks, checkOptions, text } from '../options.ts'
import { waitUntil } from '../process/wait-until.ts'
import { withClient } from '../server/connection.ts'

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

export interface TestDatabaseOptions {
  readonly serverUrl: string
  readonly template: string
}

const checks: Checks<TestDatabaseOptions> = {
  serverUrl: address,
  template: text("the name of the database to copy; 'template1' is an empty one"),
}

export async function createTestDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  checkOptions('createTestDatabase', options, checks)
  const { serverUrl, template } = options
  const name = `test_${randomBytes(8).toString('hex')}`
  await copyTemplate(serverUrl, template, name)
  return {
    url: databaseUrl(serverUrl, name),
    drop: () => whileInUse(() => run(serverUrl, `drop database if exists ${name} with (force)`)),
  }
}

/** It may hold a password, so it is not repeated. */
function address(value: unknown): string | undefined {
  const wanted = 'the address of a database on the server, as in postgresql://user@host:5432/postgres'
  const isOne = (url: string) => /^postgres(ql)?:/.test(url) && URL.canParse(url)
  return text(wanted)(value) ?? (isOne(String(value)) ? undefined : `is no URL of PostgreSQL; give ${wanted}`)
}

export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

export async function run(url: string, ...statements: string[]): Promise<void> {
  await withClient(url, async (client) => {
    for (const statement of statements) await client.query(statement)
  })
}

function copyTemplate(serverUrl: string, template: string, name: string): Promise<void> {
  return whileInUse(() => run(serverUrl, `create database ${name} template "${template}" strategy file_copy`))
}

/**
 * Object in use: PostgreSQL copies no database that somebody is connected to, be it only autovacuum, and when it drops one it waits five seconds for those
 * whom it has told to go.
 */
const inUse = '55006'

/** Tries again while somebody is still there. */
async function whileInUse(act: () => Promise<void>): Promise<void> {
  let refusal: unknown
  const done = await waitUntil(async () => {
    try {
      await act()
      return true
    } catch (error) {
      if ((error as DatabaseError).code !== inUse) throw error
      refusal = error
      return false
    }
  }, 30_000)
  if (!done) throw refusal
}
