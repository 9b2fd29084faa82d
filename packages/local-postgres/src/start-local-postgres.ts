/**
 * A real PostgreSQL on this machine: made if there is none, started if it is not running, shared if it is.
 *
 * Processes that name the same data folder share one server. Each is entered as a user and supervises it; the last one
 * out stops it, whoever started it. A user that is killed leaves the server running, and the next start attaches to it or,
 * if it died too, recovers it.
 */
import { usingFolder } from './errors.ts'
import { socketUrl } from './folder/socket-folder.ts'
import { type Checks, callable, checkOptions, optional } from './options.ts'
import { withLock } from './process/lock.ts'
import { isInUse, register } from './process/users.ts'
import { ensureCluster } from './server/cluster.ts'
import { ensureDatabase } from './server/connection.ts'
import { attachOrLaunch } from './server/launch.ts'
import { runningServer } from './server/running.ts'
import { shutDown } from './server/shut-down.ts'
import { openSite, type Site, type SiteOptions, siteChecks } from './site.ts'
import { type ServerExit, supervise } from './supervisor.ts'

export interface LocalPostgres {
  /** For node-postgres and libpq alike: database `sluice`, superuser `sluice`, over the socket. */
  readonly url: string
  /** Where the data really is, which as root may not be the folder that was asked for. */
  readonly dataFolder: string
  readonly socketFolder: string
  readonly version: string
  /** Process of the server. Changes when it is restarted. */
  readonly pid: number
  readonly role: 'started' | 'attached'
  /** Called after each unexpected end of the server, once it has been restarted or given up. */
  onExit(listener: (exit: ServerExit) => void): void
  /** Leaves the server, and stops it if nobody else uses it. May be called again. */
  stop(): Promise<void>
}

export interface LocalPostgresOptions extends SiteOptions {
  /** Gets a sentence for each thing worth knowing: started, attached, restarted, given up, stopped. */
  readonly log?: ((message: string) => void) | undefined
}

export const localPostgresChecks: Checks<LocalPostgresOptions> = {
  ...siteChecks,
  log: optional(callable('a function that takes a sentence, as in console.log')),
}

export async function startLocalPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  checkOptions('startLocalPostgres', options, localPostgresChecks)
  const log = options.log ?? (() => {})
  const { site, server, role, leave } = await usingFolder(options.dataFolder, async () => {
    const site = await openSite(options)
    return withLock(site.dataFolder, () => enter(site))
  })
  log(`${role} PostgreSQL ${site.binaries.version}, process ${server.pid}, data in ${site.dataFolder}`)

  const listeners: ((exit: ServerExit) => void)[] = []
  const supervisor = supervise(site, server, (exit) => {
    log(exit.outcome === 'restarted' ? `PostgreSQL ended and runs again as process ${exit.pid}` : exit.error.message)
    for (const listener of listeners) listener(exit)
  })

  async function stop(): Promise<void> {
    supervisor.stop()
    const stopped = await withLock(site.dataFolder, () => depart(site, leave))
    log(stopped ? 'stopped PostgreSQL' : 'left PostgreSQL running for others')
  }

  let stopping: Promise<void> | undefined
  return {
    url: socketUrl(site.socketFolder, 'sluice'),
    dataFolder: site.dataFolder,
    socketFolder: site.socketFolder,
    version: site.binaries.version,
    get pid() {
      return supervisor.server.pid
    },
    role,
    onExit(listener) {
      checkOptions('onExit', { listener }, { listener: callable('a function that takes how the server ended') })
      listeners.push(listener)
    },
    stop: () => (stopping ??= stop()),
  }
}

async function enter(site: Site) {
  const { leave } = register(site.dataFolder)
  try {
    await ensureCluster(site)
    const { server, role } = await attachOrLaunch(site)
    await ensureDatabase(site.socketFolder, 'sluice')
    return { site, server, role, leave }
  } catch (error) {
    leave()
    throw error
  }
}

async function depart(site: Site, leave: () => void): Promise<boolean> {
  leave()
  if (isInUse(site.dataFolder)) return false
  const server = runningServer(site)
  if (server) await shutDown(server)
  return true
}
