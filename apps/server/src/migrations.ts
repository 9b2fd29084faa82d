/** The tables that a running system has beside the engine's, migrated with them: those of the server (keys, audit, replayed answers) and of the collector. */
import { collectorMigrations } from '@sluice/collector'
import type { MigrationSet } from '@sluice/engine'

export const serverMigrations: MigrationSet = { name: 'server', folder: new URL('../migrations/', import.meta.url) }

export const systemMigrations: readonly MigrationSet[] = [serverMigrations, collectorMigrations]
