/**
 * `sluice migrate`: brings the schema up to date before the first new process starts, or says what that would do.
 */
import { migrate, pendingMigrations } from '@sluice/engine'
import { openDatabase, systemMigrations } from '@sluice/server'
import { exit } from '../session/exit.ts'
import type { Call } from '../session/tree.ts'

export async function migrateDatabase({ session, options }: Call): Promise<number> {
  const { output } = session
  const opening = openDatabase(await session.config(), { make: true, say: () => {} })
  const opened = opening.catch(() => undefined)
  session.takeAlong(opened)
  session.onEnd(async () => (await opened)?.stop())
  const database = await opening
  const tables = await systemMigrations()
  const pending = await pendingMigrations(database.url, tables)
  if (options['check']) {
    output.answer({ pending }, () => (pending.length === 0 ? 'Up to date.' : `Lacks:\n${indent(pending)}`))
    return pending.length === 0 ? exit.ok : exit.failure
  }
  const { applied } = await migrate(database.url, tables)
  output.answer({ applied }, () => (applied.length === 0 ? 'Up to date.' : `Applied:\n${indent(applied)}`))
  return exit.ok
}

const indent = (lines: readonly string[]): string => lines.map((line) => `  ${line}`).join('\n')
