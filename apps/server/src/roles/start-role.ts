/**
 * Composition root of a running system: which parts a role has, in which order they start, and in which they stop.
 *
 * | role | HTTP API | runs jobs | may lead |
 * |---|---|---|---|
 * | up | yes | yes | yes |
 * | server | yes | | |
 * | worker | health only | yes | |
 * | scheduler | health only | | yes |
 * | alone | | yes | yes |
 *
 * `alone` is a command that does its own work because nobody else is there to do it.
 * Any number of each works on one database. The heavy parts are imported by the roles that have them.
 */
import { hostname } from 'node:os'
import type { Collector, CollectorParts } from '@sluice/collector'
import { createEngine, type Engine, type EngineOptions, type KeyRing } from '@sluice/engine'
import type { FoundDatabase } from '@sluice/local-postgres'
import { Access } from '../access/access.ts'
import { type AuditUpkeep, auditUpkeep } from '../access/audit-upkeep.ts'
import type { Config } from '../config/read-config.ts'
import { serverMigrations } from '../migrations.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { addressOf, explain, listen } from './listen.ts'
import { type Loaded, loadModules } from './load-modules.ts'
import { openKeyRing } from './master-key.ts'
import { openDatabase } from './open-database.ts'
import { ping } from './ping.ts'

/** Those that are started as processes of their own. */
export type ServedRole = 'up' | 'server' | 'worker' | 'scheduler'
export type RoleName = ServedRole | 'alone'

interface Duties {
  readonly api: boolean
  readonly works: boolean
  readonly leads: boolean
}

export const roles: Readonly<Record<RoleName, Duties>> = {
  up: { api: true, works: true, leads: true },
  server: { api: true, works: false, leads: false },
  worker: { api: false, works: true, leads: false },
  scheduler: { api: false, works: false, leads: true },
  alone: { api: false, works: true, leads: true },
}

export interface Running {
  readonly engine: Engine
  readonly collector: Collector
  readonly database: FoundDatabase
  /** Where it listens, if it does. */
  readonly address: string | undefined
  /** Made because keys are required and there never was one. It is not stored and cannot be shown again. */
  readonly firstKey: string | undefined
  /** Lets running jobs end, hands back the rest, and leaves. May be called again. */
  stop(): Promise<void>
}

export interface RoleWishes {
  /** Default: a log on standard error, as the configuration says. */
  readonly telemetry?: Telemetry
  readonly version?: string
  /** Gets the database before it is there, for whoever cannot wait for the end of `stop`. */
  readonly opening?: (database: Promise<FoundDatabase>) => void
}

type Closers = (() => Promise<unknown>)[]

export async function startRole(role: RoleName, config: Config, wishes: RoleWishes = {}): Promise<Running> {
  const closers: Closers = []
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).toReversed()) await close()
  }
  try {
    const telemetry = wishes.telemetry ?? (await openTelemetry(config, wishes.version))
    const modules = await loadModules(config)
    const say = (message: string): void => telemetry.engineLog.info(message)
    const opening = openDatabase(config, { make: true, say })
    wishes.opening?.(opening)
    const database = await opening
    closers.push(() => database.stop())
    const secrets = await openKeyRing(config, { make: true })
    const { dailySchedule, partsOfCollector } = await import('./collector.ts')
    const collecting = partsOfCollector(config)
    const upkeep = auditUpkeep(config)
    const engine = createEngine(
      engineOptions(role, config, { modules, collecting, upkeep, url: database.url, telemetry, secrets }),
    )
    const collector = collecting.open(engine)
    const access = new Access(engine, { requireKeys: config.requireKeys })
    upkeep.bind(access.audit)
    const parts = { engine, collector, access, telemetry }
    // Probes are answered from before the first heartbeat until after the last job: a process that takes its time to stop is not dead.
    const health = roles[role].api ? undefined : await openHealth(parts, config, closers)
    closers.push(() => engine.stop())
    await engine.start()
    // Whoever leads decides: what another configuration stored would go on firing.
    if (roles[role].leads && !config.collectDaily) await engine.schedules.remove(dailySchedule)
    const firstKey = roles[role].api && config.requireKeys ? await access.keys.firstAdminKey() : undefined
    const address = roles[role].api ? await openApi(parts, config, closers, wishes.version) : health
    let stopping: Promise<void> | undefined
    return { engine, collector, database, address, firstKey: firstKey?.text.reveal(), stop: () => (stopping ??= stop()) }
  } catch (error) {
    await stop()
    throw error
  }
}

async function openTelemetry(
  { logLevel, logFormat, masterKey, database, redis }: Config,
  version: string | undefined,
): Promise<Telemetry> {
  const { createTelemetry } = await import('../telemetry/telemetry.ts')
  const telemetry = createTelemetry({
    level: logLevel,
    ...(logFormat === 'auto' ? {} : { pretty: logFormat === 'pretty' }),
    ...(version === undefined ? {} : { version }),
  })
  const passwords = [database, ...(redis?.split(',') ?? [])].map((url) =>
    url && URL.canParse(url) ? decodeURIComponent(new URL(url).password) : undefined,
  )
  for (const secret of [masterKey, ...passwords]) if (secret) telemetry.hide(secret)
  return telemetry
}

interface Parts {
  readonly engine: Engine
  readonly collector: Collector
  readonly access: Access
  readonly telemetry: Telemetry
}

async function openHealth(parts: Parts, { host, healthPort }: Config, closers: Closers): Promise<string | undefined> {
  if (healthPort === undefined) return undefined
  const { createHealth } = await import('./health.ts')
  const server = createHealth(parts)
  closers.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return listen(server, { host, port: healthPort, flag: '--health-port' })
}

async function openApi(parts: Parts, { host, port }: Config, closers: Closers, version: string | undefined): Promise<string> {
  const { createHttp } = await import('../http/app.ts')
  const app = await createHttp({ ...parts, config: version === undefined ? {} : { version } })
  closers.push(() => app.close())
  await app.listen({ host, port }).catch((error: Error) => {
    throw explain(error, { host, port, flag: '--port' })
  })
  return addressOf(app.server, host)
}

interface Ingredients {
  readonly modules: Loaded
  readonly collecting: CollectorParts
  readonly upkeep: AuditUpkeep
  readonly url: string
  readonly telemetry: Telemetry
  readonly secrets: KeyRing | undefined
}

function engineOptions(
  role: RoleName,
  config: Config,
  { modules, collecting, upkeep, url, telemetry, secrets }: Ingredients,
): EngineOptions {
  const { works, leads } = roles[role]
  return {
    kinds: [ping, upkeep.kind, ...collecting.kinds, ...modules.kinds],
    runs: [...collecting.runs, ...modules.runs],
    schedules: [upkeep.schedule, ...collecting.schedules, ...modules.schedules],
    events: [...collecting.events, ...modules.events],
    lanes: { ...collecting.lanes, ...modules.lanes },
    services: { ...modules.services, ...collecting.services },
    database: url,
    ...(config.redis === undefined ? {} : { redis: config.redis }),
    migrations: [serverMigrations, ...collecting.migrations],
    name: `${role} ${hostname()}:${process.pid}`,
    pools: works ? config.pools : {},
    lead: leads,
    lease: config.lease,
    grace: config.grace,
    keepDays: config.keepDays,
    log: telemetry.engineLog,
    observe: telemetry.observer,
    ...(secrets ? { secrets } : {}),
  }
}
