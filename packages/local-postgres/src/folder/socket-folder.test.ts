import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { holdServer } from '../scene/hold-server.ts'
import { scratchFolder } from '../scene/scratch-folder.ts'
import { withClient } from '../server/connection.ts'
import { startLocalPostgres } from '../start-local-postgres.ts'

vi.setConfig({ testTimeout: 60_000 })

test('[O-02] a data folder too deep for a socket gets a short private one that others find', async () => {
  const dataFolder = join(scratchFolder(), 'deep'.repeat(20), 'deeper'.repeat(10))
  const server = await startLocalPostgres({ dataFolder })
  onTestFinished(() => rmSync(server.socketFolder, { recursive: true, force: true }))
  expect(server.socketFolder).not.toContain(dataFolder)
  expect(statSync(server.socketFolder).mode & 0o777).toBe(0o700)
  expect(readFileSync(join(dataFolder, 'socket-folder'), 'utf8').trim()).toBe(server.socketFolder)

  const second = await holdServer({ dataFolder })
  expect(second.server.url).toBe(server.url)
  await second.holder.stop()
  await server.stop()
})

test('a short socket folder that has gone is made again', async () => {
  const dataFolder = join(scratchFolder(), 'deep'.repeat(20), 'deeper'.repeat(10))
  const first = await startLocalPostgres({ dataFolder })
  await first.stop()
  rmSync(first.socketFolder, { recursive: true })

  const second = await startLocalPostgres({ dataFolder })
  onTestFinished(() => rmSync(second.socketFolder, { recursive: true, force: true }))
  await expect(withClient(second.url, (client) => client.query('select'))).resolves.toBeDefined()
  await second.stop()
})
