/**
 * The master key of a system.
 *
 * On one machine, with its own PostgreSQL, it is made beside the data. Where the database is elsewhere, other processes need the same key, so none is
 * made: without one, secrets are off. A file that was named and is not there is a mistake.
 */
import { KeyRing } from '@sluice/engine'
import type { Config } from '../config/read-config.ts'

export async function openKeyRing(
  { database, masterKey, masterKeyFile, origins }: Config,
  { make }: { make: boolean },
): Promise<KeyRing | undefined> {
  const isNamed = origins.masterKeyFile.from !== 'default'
  const missing = isNamed ? 'refuse' : make && database === undefined ? 'create' : 'go on'
  return KeyRing.fromEnvOrFile({ text: masterKey, file: masterKeyFile, missing })
}
