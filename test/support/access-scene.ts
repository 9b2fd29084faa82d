/**
 * Fixtures for tests of access: `access` makes one on the test's own database, `ask` a request as a caller on this machine would send it.
 */
import type { Engine } from '@sluice/engine'
import { Access } from '../../apps/server/src/access/access.ts'
import type { Asking } from '../../apps/server/src/access/caller.ts'
import type { AccessSettings } from '../../apps/server/src/access/settings.ts'
import { serverMigrations } from '../../apps/server/src/migrations.ts'
import { test as base } from './database.ts'

export interface AccessScene {
  /** An engine that has the tables of the server. */
  engine: Engine
  /** Each one is a process of its own as far as access goes: they share nothing but the database. */
  access: (settings?: Partial<AccessSettings>) => Access
}

export const test = base.extend<AccessScene>({
  engine: async ({ engines }, use) => {
    const engine = engines({ migrations: [serverMigrations] })
    await engine.migrate()
    await use(engine)
  },
  access: async ({ engine }, use) => {
    await use((settings = {}) => new Access(engine, { requireKeys: true, ...settings }))
  },
})

/** `null` is a connection whose address Node does not know. */
export function ask(headers: Asking['headers'] = {}, remoteAddress: string | null = '127.0.0.1'): Asking {
  return { headers: { host: 'localhost:7070', ...headers }, remoteAddress: remoteAddress ?? undefined }
}

export const bearer = (key: string): { authorization: string } => ({ authorization: `Bearer ${key}` })
