/**
 * The one Redis of a run, with the durability it has out of the box (snapshots now and then, no append-only file), in a
 * temporary folder, reached by its socket, gone afterwards.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis as Client } from 'ioredis'
import { pause } from '../measure/clock.ts'

export interface Redis {
  readonly socket: string
  readonly version: string
  /** Empties it: what a fresh database is for PostgreSQL. */
  empty(): Promise<void>
  stop(): Promise<void>
}

/** Undefined where there is no `redis-server`. */
export async function startRedis(): Promise<Redis | undefined> {
  const version = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  if (version.status !== 0) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-redis-'))
  const socket = join(folder, 'socket')
  const server = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--dir', folder], { stdio: 'ignore' })
  const dieWithUs = () => {
    server.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', dieWithUs)
  await answers(socket)
  return {
    socket,
    version: /v=(\S+)/.exec(version.stdout)?.[1] ?? 'unknown',
    async empty() {
      await asking(socket, (client) => client.flushall())
    },
    async stop() {
      process.off('exit', dieWithUs)
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function answers(socket: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await asking(socket, (client) => client.ping())
      return
    } catch (error) {
      if (attempt === 100) throw new Error('redis-server was started but does not answer', { cause: error })
      await pause(50)
    }
  }
}

async function asking(socket: string, act: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ path: socket, lazyConnect: true, retryStrategy: () => null })
  client.on('error', () => {})
  try {
    await client.connect()
    await act(client)
  } finally {
    client.disconnect()
  }
}
