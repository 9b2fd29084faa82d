/**
 * The system as a command sees it: the database of the configuration, with an engine on it that is not started. It migrates nothing, so that looking
 * at a database never changes it.
 */
import { createEngine, type Engine, type Log, standardErrorLog } from '@sluice/engine'
import type { LocalPostgres } from '@sluice/local-postgres'
import { Access } from '../access/access.ts'
import type { Config } from '../config/read-config.ts'
import { serverMigrations } from '../migrations.ts'
import { openDatabase } from './open-database.ts'

export interface System {
  readonly engine: Engine
  readonly access: Access
  /** Address of the database. */
  readonly url: string
  /** The server, if it is a local one. */
  readonly local: LocalPostgres | undefined
  stop(): Promise<void>
}

export interface SystemWishes {
  readonly log?: Log
}

export async function openSystem(config: Config, { log = standardErrorLog }: SystemWishes = {}): Promise<System> {
  const database = await openDatabase(config, { make: false, say: () => {} })
  const engine = createEngine({
    database: database.url,
    migrations: [serverMigrations],
    migrates: false,
    pools: {},
    lead: false,
    lease: config.lease,
    log,
  })
  return {
    engine,
    access: new Access(engine, { requireKeys: config.requireKeys }),
    url: database.url,
    local: database.local,
    async stop() {
      await engine.stop()
      await database.stop()
    },
  }
}
