/**
 * Fixtures for tests on a real database: `database` is the file's own copy of the migrated template, `client` a connection to it for
 * looking at tables, `engines` makes engines on it and stops them afterwards.
 */
import { createEngine, type Engine, type EngineOptions, silentLog } from '@sluice/engine'
import { createTestDatabase, type TestDatabase } from '@sluice/local-postgres/testing'
import pg from 'pg'
import { test as base, inject } from 'vitest'

export { eventually } from './eventually.ts'

/** In a project that has a Redis, every engine dispatches by it. Databases do not meet there. */
const redis = inject('redisUrl')
export const onRedis = redis ? { redis } : {}

export interface Fixtures {
  /** Own database of the test, dropped afterwards. */
  database: TestDatabase
  client: pg.Client
  /** Makes an engine on `database`; it is stopped when the test ends. Not started. */
  engines: (options?: Partial<EngineOptions>) => Engine
}

export const test = base.extend<Fixtures>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  database: async ({}, use) => {
    const database = await createTestDatabase({ serverUrl: inject('serverUrl'), template: inject('template') })
    await use(database)
    await database.drop()
  },
  client: async ({ database }, use) => {
    const client = new pg.Client(database.url)
    client.on('error', () => {})
    await client.connect()
    await use(client)
    await client.end()
  },
  engines: async ({ database }, use) => {
    const made: Engine[] = []
    await use((options = {}) => {
      const engine = createEngine({ database: database.url, log: silentLog, grace: '2s', ...onRedis, ...options })
      made.push(engine)
      return engine
    })
    await Promise.all(made.map((engine) => engine.stop()))
  },
})
