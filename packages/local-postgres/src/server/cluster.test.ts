import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { scratchFolder } from '../scene/scratch-folder.ts'
import { startLocalPostgres } from '../start-local-postgres.ts'

vi.setConfig({ testTimeout: 60_000 })

test('the remains of an interrupted initdb are cleared away', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  mkdirSync(join(dataFolder, 'cluster.interrupted', 'base'), { recursive: true })
  const server = await startLocalPostgres({ dataFolder })
  await server.stop()
  expect(readdirSync(dataFolder).filter((name) => name.startsWith('cluster'))).toEqual(['cluster'])
})

test('data of another major version is refused with both versions and left alone', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  mkdirSync(join(dataFolder, 'cluster'), { recursive: true })
  writeFileSync(join(dataFolder, 'cluster', 'PG_VERSION'), '15\n')
  await expect(startLocalPostgres({ dataFolder })).rejects.toMatchObject({
    code: 'LOCAL_POSTGRES_WRONG_VERSION',
    message: expect.stringContaining('was made by PostgreSQL 15, but the binaries are PostgreSQL 18'),
  })
  expect(readdirSync(join(dataFolder, 'cluster'))).toEqual(['PG_VERSION'])
})

test('a server that does not come up tells what its log says', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  await expect(startLocalPostgres({ dataFolder, settings: { shared_buffers: 'plenty' } })).rejects.toMatchObject({
    code: 'LOCAL_POSTGRES_START_FAILED',
    message: expect.stringContaining('invalid value for parameter "shared_buffers": "plenty"'),
  })
})
