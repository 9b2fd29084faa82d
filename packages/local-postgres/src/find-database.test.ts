import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { findDatabase } from './find-database.ts'
import { scratchFolder } from './scene/scratch-folder.ts'
import { withClient } from './server/connection.ts'

vi.setConfig({ testTimeout: 60_000 })

test('[O-02] DATABASE_URL is used as it is, and nothing is started', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const found = await findDatabase({ env: { DATABASE_URL: 'postgresql://elsewhere/db' }, dataFolder })
  await found.stop()
  expect(found).toMatchObject({ url: 'postgresql://elsewhere/db', local: undefined })
  expect(existsSync(dataFolder)).toBe(false)
})

test('[O-02] without DATABASE_URL, or with an empty one, a local PostgreSQL is started', async () => {
  const found = await findDatabase({ env: { DATABASE_URL: '' }, dataFolder: join(scratchFolder(), 'data') })
  await expect(withClient(found.url, (client) => client.query('select'))).resolves.toBeDefined()
  expect(found.local?.role).toBe('started')
  await found.stop()
})
