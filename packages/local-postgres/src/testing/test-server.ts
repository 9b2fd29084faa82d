/**
 * Test server: a PostgreSQL that lives as long as a test run, in a temporary folder, with a template to copy.
 *
 * Nobody supervises it, so that a test can kill it and see it dead until `restart`. It does not force writes to disk: that
 * only matters when the machine loses power, and a killed server recovers without it. It ends with this process, however
 * that ends: its watcher sees to it.
 */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { socketUrl } from '../folder/socket-folder.ts'
import { type Checks, callable, checkOptions, optional } from '../options.ts'
import { isAlive, signal } from '../process/identity.ts'
import { waitUntil } from '../process/wait-until.ts'
import { ensureCluster } from '../server/cluster.ts'
import { withClient } from '../server/connection.ts'
import { attachOrLaunch, launch } from '../server/launch.ts'
import { shutDown } from '../server/shut-down.ts'
import { openSite, siteChecks } from '../site.ts'
import { startWatcher } from './start-watcher.ts'
import { createTestDatabase, databaseUrl, run, type TestDatabase } from './test-database.ts'

export interface TestServer {
  /** Database `postgres` on this server, from which databases are made. */
  readonly url: string
  readonly template: string
  readonly socketFolder: string
  createDatabase(): Promise<TestDatabase>
  /** Stops the server if it runs and starts it again. */
  restart(): Promise<void>
  kill9(): Promise<void>
  stop(): Promise<void>
}

export interface TestServerOptions {
  /** Fills the template, e.g. by migrating. Its connections must be closed when it returns. */
  readonly prepare?: ((url: string) => Promise<void>) | undefined
  readonly settings?: Record<string, string> | undefined
  readonly binaries?: string | undefined
}

const template = 'sluice_template'
const testSettings = { fsync: 'off', max_connections: '500' }

const checks: Checks<TestServerOptions> = {
  prepare: optional(callable('a function that takes the address of the template, as in (url) => …')),
  settings: siteChecks.settings,
  binaries: siteChecks.binaries,
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  checkOptions('startTestServer', options, checks)
  const { prepare, settings, binaries } = options
  const requested = join(tmpdir(), `sluice-test-${randomUUID().slice(0, 8)}`)
  const site = await openSite({ dataFolder: requested, settings: { ...testSettings, ...settings }, binaries })
  const folders = [...new Set([site.dataFolder, site.socketFolder, requested])]
  const watcher = startWatcher(folders)
  await ensureCluster(site)
  let server = await launch(site)
  const url = socketUrl(site.socketFolder, 'postgres')

  await run(url, `create database ${template}`)
  await prepare?.(databaseUrl(url, template))
  await sealTemplate(url)

  return {
    url,
    template,
    socketFolder: site.socketFolder,
    createDatabase: () => createTestDatabase({ serverUrl: url, template }),
    async restart() {
      await shutDown(server)
      // Not `launch`: a corpse that is not reaped yet keeps its pid, and its files have to go first.
      server = (await attachOrLaunch(site)).server
    },
    async kill9() {
      if (isAlive(server)) signal(server.pid, 'SIGKILL')
      await waitUntil(() => !isAlive(server), 10_000)
    },
    async stop() {
      await shutDown(server)
      for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
      await watcher.dismiss()
    },
  }
}

/** Lets nobody in any more and waits until the last connection of `prepare` has really ended: a template in use is not copied. */
async function sealTemplate(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`alter database ${template} with allow_connections false is_template true`)
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [template])
    await waitUntil(async () => {
      const left = await client.query('select from pg_stat_activity where datname = $1', [template])
      return left.rowCount === 0
    }, 10_000)
  })
}
