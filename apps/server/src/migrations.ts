/** The tables that a running system has beside the engine's, migrated with them: those of the server (keys, audit, replayed answers) and of the collector. */
import type { MigrationSet } from '@sluice/engine'

export const serverMigrations: MigrationSet = { name: 'server', folder: new URL('../migrations/', import.meta.url) }

export async function systemMigrations(): Promise<readonly MigrationSet[]> {
  const { collectorMigrations } = await import('@sluice/collector')
  return [serverMigrations, collectorMigrations]
}
