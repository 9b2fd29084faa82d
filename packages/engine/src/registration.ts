/**
 * What a process tells the database before its first use: the schema, its kinds, events and subscriptions, limits of lanes, settings and
 * schedules. All of it is idempotent; several processes may do it at once.
 */
import { registerEvents } from './event/event-store.ts'
import { loneStatement, tryAlikeStatement } from './job/enqueue.ts'
import { registerKinds, registerLaneClasses, type StoredSettings, storeSettings } from './job/kind-store.ts'
import type { Settled } from './options.ts'
import type { Database } from './postgres/database.ts'
import { checkSchema, migrate } from './postgres/migrate.ts'
import { checkRights } from './postgres/rights.ts'
import { registerSchedules } from './schedule/schedules.ts'

export async function register(database: Database, options: Settled): Promise<StoredSettings> {
  const on = database.viaIntake
  const { database: url, migrations, migrates, kinds, events, laneClasses, schedules, priorityStepMs, payloadBytesMax } = options
  if (migrates) await migrate(url, migrations)
  else await checkSchema(url, migrations)
  await checkRights(
    on,
    migrations.flatMap(({ schema }) => schema ?? []),
  )
  await registerKinds(on, [...kinds.values()])
  await registerEvents(on, events, [...kinds.values()])
  await registerLaneClasses(on, laneClasses)
  const stored = await storeSettings(on, {
    ...(priorityStepMs === undefined ? {} : { priorityStepMs }),
    ...(payloadBytesMax === undefined ? {} : { payloadBytesMax }),
  })
  await registerSchedules(on, schedules, stored)
  await rehearse(database)
  return stored
}

/**
 * The server compiles and plans a function when a connection first calls it, which takes several times as long as the call: the first to enqueue would wait
 * for it. No kind is named '', so nothing is stored. Somebody may have locked the table: nobody needs to hear of it who does not enqueue.
 */
async function rehearse(database: Database): Promise<void> {
  await database.send(database.intake, loneStatement, ['', '{}', false, null, false]).catch(() => {})
  await database.send(database.intake, tryAlikeStatement, ['', '[]', false, null]).catch(() => {})
}
