/** The collector's own tables and views, brought up to date together with the engine's. */
import type { MigrationSet } from '@sluice/engine'

export const collectorMigrations: MigrationSet = {
  name: 'collector',
  folder: new URL('../migrations/', import.meta.url),
  schema: 'collector',
}
