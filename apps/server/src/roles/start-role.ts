/**
 * Composition root of a running system: which parts a role has, in which order they start, and in which they stop.
 *
 * | role | HTTP API | runs jobs | may lead |
 * |---|---|---|---|
 * | up | yes | yes | yes |
 * | server | yes | | |
 * | worker | health only | yes | |
 * | scheduler | health only | | yes |
 *
 * Any number of each works on one database. The heavy parts are imported by the roles that have them.
 */
import { hostname } from 'node:os'
import { createEngine, type Engine, type EngineOptions, type Log, standardErrorLog } from '@sluice/engine'
import type { FoundDatabase } from '@sluice/local-postgres'
import type { Config } from '../config/read-config.ts'
import { serverMigrations } from '../migrations.ts'
import { loadModules } from './load-modules.ts'
import { openDatabase } from './open-database.ts'
import { ping } from './ping.ts'

export type RoleName = 'up' | 'server' | 'worker' | 'scheduler'

interface Parts {
  readonly api: boolean
  readonly works: boolean
  readonly leads: boolean
}

export const roles: Readonly<Record<RoleName, Parts>> = {
  up: { api: true, works: true, leads: true },
  server: { api: true, works: false, leads: false },
  worker: { api: false, works: true, leads: false },
  scheduler: { api: false, works: false, leads: true },
}

export interface Running {
  readonly engine: Engine
  readonly database: FoundDatabase
  /** Where it listens, if it does. */
  readonly address: string | undefined
  /** Made because keys are required and there was none. It is not stored and cannot be shown again. */
  readonly firstKey: string | undefined
  /** Lets running jobs end, hands back the rest, and leaves. May be called again. */
  stop(): Promise<void>
}

export interface RoleWishes {
  readonly log?: Log
}

export async function startRole(role: RoleName, config: Config, { log = standardErrorLog }: RoleWishes = {}): Promise<Running> {
  const closers: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).toReversed()) await close()
  }
  try {
    const modules = await loadModules(config)
    const database = await openDatabase(config, { make: true, say: (message) => log.info(message) })
    closers.push(() => database.stop())
    const engine = createEngine(engineOptions(role, config, { modules, url: database.url, log }))
    closers.push(() => engine.stop())
    await engine.start()
    let stopping: Promise<void> | undefined
    return { engine, database, address: undefined, firstKey: undefined, stop: () => (stopping ??= stop()) }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Ingredients {
  readonly modules: Awaited<ReturnType<typeof loadModules>>
  readonly url: string
  readonly log: Log
}

function engineOptions(role: RoleName, config: Config, { modules, url, log }: Ingredients): EngineOptions {
  const { works, leads } = roles[role]
  return {
    ...modules,
    kinds: [ping, ...modules.kinds],
    database: url,
    migrations: [serverMigrations],
    name: `${role} ${hostname()}:${process.pid}`,
    pools: works ? config.pools : {},
    lead: leads,
    lease: config.lease,
    grace: config.grace,
    keepDays: config.keepDays,
    log,
  }
}
