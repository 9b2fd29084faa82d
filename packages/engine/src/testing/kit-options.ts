/**
 * Options of a test kit, checked at the door: as the engine checks its own, and what only a kit has to ask.
 */
import type { AnyEvent } from '../event/event.ts'
import type { AnyKind } from '../job/kind.ts'
import { type Settled, settleOptions } from '../options.ts'
import type { MigrationSet } from '../postgres/migrate.ts'
import type { Schedule } from '../schedule/schedule.ts'
import { SluiceError } from '../support/errors.ts'
import { checkOptions } from '../support/options.ts'
import { checkList } from './check-call.ts'
import { checkKind } from './check-kind.ts'

export interface TestKitOptions {
  readonly database: string
  readonly kinds: readonly AnyKind[]
  readonly services?: unknown
  readonly schedules?: readonly Schedule[]
  /** Events that nobody here subscribes to. */
  readonly events?: readonly AnyEvent[]
  /** Schemas of packages that stand on the engine. */
  readonly migrations?: readonly MigrationSet[]
}

export function settleKitOptions(options: TestKitOptions): Settled {
  checkOptions('createTestKit', options, ['database', 'kinds', 'services', 'schedules', 'events', 'migrations'])
  const { kinds, migrations = [] } = options
  checkList('createTestKit.kinds', kinds)
  for (const [at, kind] of kinds.entries()) checkKind(`createTestKit.kinds.${at}`, kind)
  checkList('createTestKit.migrations', migrations)
  for (const [at, set] of migrations.entries()) checkMigrations(`createTestKit.migrations.${at}`, set)
  return settleOptions(options)
}

function checkMigrations(field: string, set: MigrationSet): void {
  checkOptions(field, set, ['name', 'folder', 'schema'])
  if (typeof set.name === 'string' && set.folder instanceof URL) return
  throw new SluiceError('INVALID_OPTION', { field, problem: 'has no name or no folder; give { name, folder: new URL(…) }' })
}
