/** The tables of the server: keys, audit, replayed answers. They live beside the engine's and are migrated with them. */
import type { MigrationSet } from '@sluice/engine'

export const serverMigrations: MigrationSet = { name: 'server', folder: new URL('../migrations/', import.meta.url) }
