/**
 * The database of this configuration: the one that is given, or the local PostgreSQL in the data folder.
 *
 * A role makes a local one where there is none. A command only looks, so it does not leave a database behind in whatever folder it was given in.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FoundDatabase } from '@sluice/local-postgres'
import type { Config } from '../config/read-config.ts'
import { RoleError } from './errors.ts'

export interface DatabaseWishes {
  /** Makes a local one if there is none. */
  readonly make: boolean
  readonly say: (message: string) => void
}

export async function openDatabase(config: Config, { make, say }: DatabaseWishes): Promise<FoundDatabase> {
  if (config.database !== undefined) return { url: config.database, local: undefined, stop: async () => {} }
  const folder = localFolder(config)
  const isThere = ['cluster', 'moved-to'].some((name) => existsSync(join(folder, name)))
  if (!isThere && !make) throw new RoleError('NO_DATABASE', { folder: config.data })
  const { findDatabase } = await import('@sluice/local-postgres')
  return findDatabase({ env: {}, dataFolder: folder, log: say })
}

function localFolder({ data }: Pick<Config, 'data'>): string {
  return join(data, 'postgres')
}
