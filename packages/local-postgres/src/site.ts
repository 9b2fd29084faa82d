/**
 * Site: all that is decided about a server before it runs. Where its data and its socket are, under which account it runs,
 * from which binaries, with which settings. Everything that starts or stops a server takes a site.
 */
import { join } from 'node:path'
import { type Binaries, findBinaries } from './binaries/find-binaries.ts'
import type { Account } from './folder/account.ts'
import { openDataFolder } from './folder/data-folder.ts'
import { openSocketFolder } from './folder/socket-folder.ts'
import { type Checks, optional, text, texts } from './options.ts'
import { withLock } from './process/lock.ts'
import { serverSettings } from './server/settings.ts'

export interface Site {
  readonly dataFolder: string
  readonly cluster: string
  readonly socketFolder: string
  readonly account: Account | undefined
  readonly binaries: Binaries
  readonly settings: Record<string, string>
}

export interface SiteOptions {
  /** Where the data is kept, made if missing. */
  readonly dataFolder: string
  /** A folder with `initdb` and `postgres`, instead of the ones from npm. */
  readonly binaries?: string | undefined
  /** PostgreSQL settings that replace ours. */
  readonly settings?: Record<string, string> | undefined
  /** As root: where data and binaries go that the server's account could not reach. `/var/lib/sluice` unless told. */
  readonly systemFolder?: string | undefined
}

export const siteChecks: Checks<SiteOptions> = {
  dataFolder: text("the folder where the data is to be kept, as in '.sluice/postgres'"),
  binaries: optional(text('the folder in which initdb and postgres are')),
  settings: optional(texts("names and texts, as in { max_connections: '200' }")),
  systemFolder: optional(text('a folder that every account may enter')),
}

export async function openSite(options: SiteOptions): Promise<Site> {
  const systemFolder = options.systemFolder ?? '/var/lib/sluice'
  const { folder: dataFolder, account } = openDataFolder(options.dataFolder, systemFolder)
  const binaries = findBinaries(options.binaries, account, account ? systemFolder : dataFolder)
  const socketFolder = await withLock(dataFolder, async () => openSocketFolder(dataFolder, account))
  const settings = { ...serverSettings(binaries.bin, socketFolder), ...options.settings }
  return { dataFolder, cluster: join(dataFolder, 'cluster'), socketFolder, account, binaries, settings }
}
