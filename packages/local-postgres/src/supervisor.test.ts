import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { signal } from './process/identity.ts'
import { scratchFolder } from './scene/scratch-folder.ts'
import { startLocalPostgres } from './start-local-postgres.ts'
import type { ServerExit } from './supervisor.ts'

vi.setConfig({ testTimeout: 120_000 })

test('[O-02] a server that cannot be restarted is given up with a clear error, and can still be left', async () => {
  const log: string[] = []
  const server = await startLocalPostgres({ dataFolder: join(scratchFolder(), 'data'), log: (message) => log.push(message) })
  const exit = new Promise<ServerExit>((resolve) => server.onExit(resolve))
  appendFileSync(join(server.dataFolder, 'cluster', 'postgresql.conf'), '\nno_such_setting = 1\n')
  signal(server.pid, 'SIGKILL')

  const message = expect.stringMatching(/ended 5 times within 60 s.*unrecognized configuration parameter "no_such_setting"/s)
  await expect(exit).resolves.toMatchObject({ outcome: 'gave up', error: { code: 'LOCAL_POSTGRES_START_FAILED', message } })
  expect(log.at(-1)).toEqual(message)
  await server.stop()
})
