/**
 * Fixtures for tests of the HTTP API: `http` makes an app on the test's own database and closes it afterwards; `keyOf` makes a key with a role.
 */
import { type Collector, collectorParts } from '@sluice/collector'
import {
  type AnyKind,
  defineEvent,
  defineKind,
  defineRun,
  type Engine,
  type EngineOptions,
  generateMasterKey,
  KeyRing,
} from '@sluice/engine'
import { Access } from '../../apps/server/src/access/access.ts'
import type { Role } from '../../apps/server/src/access/caller.ts'
import { createHttp, type HttpConfig } from '../../apps/server/src/http/app.ts'
import { serverMigrations } from '../../apps/server/src/migrations.ts'
import { createTelemetry } from '../../apps/server/src/telemetry/telemetry.ts'
import { test as base } from './database.ts'

export type App = Awaited<ReturnType<typeof createHttp>>
type Response = Awaited<ReturnType<App['inject']>>

export interface Http {
  readonly app: App
  readonly engine: Engine
  readonly access: Access
  readonly collector: Collector
  /** What the server logged, a line each. */
  readonly lines: string[]
  get(url: string, headers?: Record<string, string>): Promise<Response>
  post(url: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
}

export interface HttpOptions extends HttpConfig {
  readonly requireKeys?: boolean
  readonly engine?: Engine
  readonly options?: Partial<EngineOptions>
  /** Where the collector asks. Default: nobody is there. */
  readonly githubUrl?: string
}

export interface HttpScene {
  http: (options?: HttpOptions) => Promise<Http>
}

const nobody = 'http://127.0.0.1:1'

export const idle: AnyKind = defineKind('idle', { run: () => {} }) as AnyKind
export const happened = defineEvent('happened')
export const walk = defineRun('walk', { plan: () => {} })

export const test = base.extend<HttpScene>({
  http: async ({ engines }, use) => {
    const open: App[] = []
    await use(async ({ requireKeys = false, engine: given, options = {}, githubUrl = nobody, ...config } = {}) => {
      const collecting = collectorParts({ github: { baseUrl: githubUrl }, daily: false })
      const engine =
        given ??
        engines({
          secrets: KeyRing.fromText(generateMasterKey()),
          services: collecting.services,
          lanes: collecting.lanes,
          ...options,
          migrations: [serverMigrations, ...collecting.migrations],
          kinds: [...(options.kinds ?? [idle]), ...collecting.kinds],
          runs: [...(options.runs ?? [walk]), ...collecting.runs],
          events: [...(options.events ?? [happened]), ...collecting.events],
        })
      const collector = collecting.open(engine)
      const access = new Access(engine, { requireKeys })
      const lines: string[] = []
      const destination = { write: (line: string) => void lines.push(line) }
      const telemetry = createTelemetry({ level: 'debug', destination })
      const app = await createHttp({ engine, collector, access, telemetry, config })
      open.push(app)
      const send = (method: 'GET' | 'POST', url: string, headers: Record<string, string> = {}, body?: unknown) =>
        app.inject({ method, url, headers, ...(body === undefined ? {} : { payload: JSON.stringify(body) }) })
      return {
        app,
        engine,
        access,
        collector,
        lines,
        get: (url, headers) => send('GET', url, headers),
        post: (url, body = {}, headers) => send('POST', url, { 'content-type': 'application/json', ...headers }, body),
      }
    })
    await Promise.all(open.map((app) => app.close()))
  },
})

export async function keyOf({ access }: Http, role: Role): Promise<{ authorization: string }> {
  const { text } = await access.keys.create({ name: `a ${role} key`, role })
  return { authorization: `Bearer ${text.reveal()}` }
}
