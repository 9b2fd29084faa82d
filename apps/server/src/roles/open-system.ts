/**
 * The system as a command sees it: the database of the configuration, with an engine on it that is not started. It migrates nothing, so that looking
 * at a database never changes it. A program with an engine of its own has no tables of the server; whoever only looks at jobs does not miss them.
 */
import { hostname } from 'node:os'
import type { Collector } from '@sluice/collector'
import { createEngine, type Engine, type Log, standardErrorLog } from '@sluice/engine'
import type { LocalPostgres } from '@sluice/local-postgres'
import { Access } from '../access/access.ts'
import type { Config } from '../config/read-config.ts'
import { serverMigrations } from '../migrations.ts'
import { openKeyRing } from './master-key.ts'
import { openDatabase } from './open-database.ts'

export interface System {
  readonly engine: Engine
  /** Stands on the server's tables: for those who wished for them. */
  readonly access: Access
  /** Stands on the collector's tables: for those who wished for it. */
  readonly collector: Collector
  /** Address of the database. */
  readonly url: string
  /** The server, if it is a local one. */
  readonly local: LocalPostgres | undefined
  stop(): Promise<void>
}

export interface SystemWishes {
  readonly log?: Log
  /** Whether the command opens secrets. The others work without a master key, also where it is not usable. */
  readonly secrets?: boolean
  /** Whether the command needs the tables of the server: keys, audit. Where they are missing it is told to migrate. */
  readonly tables?: boolean
  /** Whether the command collects, or looks at what was collected. */
  readonly collects?: boolean
}

const nothing = { open: undefined, migrations: [] }

export async function openSystem(config: Config, { log = standardErrorLog, ...wishes }: SystemWishes = {}): Promise<System> {
  const secrets = wishes.secrets ? await openKeyRing(config, { make: false }) : undefined
  const database = await openDatabase(config, { make: false, say: () => {} })
  const { open, ...parts } = wishes.collects ? (await import('./collector.ts')).partsOfCollector(config) : nothing
  const engine = createEngine({
    // Its kinds are known, so that requests are checked; nothing is stored but what every process of this version stores.
    ...parts,
    schedules: [],
    database: database.url,
    ...(config.redis === undefined ? {} : { redis: config.redis }),
    migrations: [...(wishes.tables ? [serverMigrations] : []), ...parts.migrations],
    migrates: false,
    name: onlooker(),
    pools: {},
    lead: false,
    lease: config.lease,
    log,
    ...(secrets ? { secrets } : {}),
  })
  const collector = open?.(engine)
  return {
    engine,
    access: new Access(engine, { requireKeys: config.requireKeys }),
    get collector() {
      if (!collector) throw new Error('this command did not wish for the collector')
      return collector
    },
    url: database.url,
    local: database.local,
    async stop() {
      await engine.stop()
      await database.stop()
    },
  }
}

const onlookers = 'command '

/** Commands that look on live are processes as well, but nobody who counts processes means them. */
export function isOnlooker({ name }: { readonly name: string }): boolean {
  return name.startsWith(onlookers)
}

function onlooker(): string {
  return `${onlookers}${hostname()}:${process.pid}`
}
