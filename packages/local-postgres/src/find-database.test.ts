import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { type FindDatabaseOptions, findDatabase } from './find-database.ts'
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

test.each([
  [
    undefined,
    /^Option findDatabase: takes an object with env, dataFolder, binaries, settings, systemFolder and log, and was given nothing\.$/,
  ],
  [{ env: {}, datafolder: 'x' }, /^Option findDatabase: has no "datafolder"; it takes env, dataFolder, /],
  [{ dataFolder: 'x' }, /^Option env of findDatabase: is missing; give process\.env, /],
  [{ env: { DATABASE_URL: 5432 }, dataFolder: 'x' }, /^Option env of findDatabase: has a DATABASE_URL that is a number; give /],
  [{ env: {} }, /^Option dataFolder of findDatabase: is missing; give the folder where the data is to be kept, /],
  [{ env: { DATABASE_URL: 'postgresql://elsewhere/db' } }, /^Option dataFolder of findDatabase: is missing; /],
])('[O-02] %j is refused by name, with a DATABASE_URL as without', async (options, message) => {
  const found = findDatabase(options as unknown as FindDatabaseOptions)
  await expect(found).rejects.toMatchObject({ code: 'LOCAL_POSTGRES_OPTION', message: expect.stringMatching(message) })
})

test('[O-02] without DATABASE_URL, or with an empty one, a local PostgreSQL is started', async () => {
  const found = await findDatabase({ env: { DATABASE_URL: '' }, dataFolder: join(scratchFolder(), 'data') })
  await expect(withClient(found.url, (client) => client.query('select'))).resolves.toBeDefined()
  expect(found.local?.role).toBe('started')
  await found.stop()
})
