/**
 * A server as `sluice server` starts it, in a process of its own. Tells its address; ends when it is told to stop.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig, startRole } from '@sluice/server'
import type { Line } from '../processes/line.ts'

export interface ServeInput {
  readonly databaseUrl: string
}

export async function serveApi({ databaseUrl }: ServeInput, line: Line): Promise<{ pid: number }> {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const config = readConfig({ flags: { database: databaseUrl, port: 0, logLevel: 'error' }, env: {}, cwd })
  const running = await startRole('server', config)
  line.tell(running.address)
  await line.told()
  await running.stop()
  rmSync(cwd, { recursive: true, force: true })
  return { pid: process.pid }
}
