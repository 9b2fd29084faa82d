/**
 * One PostgreSQL for a whole test run. Test files get their own database from its migrated template (test/support/database.ts), so they
 * run side by side and share nothing.
 */
import { migrate } from '@sluice/engine'
import { startTestServer } from '@sluice/local-postgres/testing'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
    template: string
    redisUrl: string | undefined
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTestServer({ prepare: async (url) => void (await migrate(url)) })
  project.provide('serverUrl', server.url)
  project.provide('template', server.template)
  return () => server.stop()
}
