/**
 * A real Redis for tests: started on a free port with a folder of its own, keeping nothing on disk, killed and started again as a test likes.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { find } from '#scripts/test-servers'
import { eventually } from './eventually.ts'

export interface RedisServer {
  readonly url: string
  readonly port: number
  /** For looking and for mischief. */
  readonly client: Redis
  /** As a crash does: nothing is kept. */
  kill(): Promise<void>
  /** On the same port, empty. */
  start(): Promise<void>
  stop(): Promise<void>
}

export async function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'))
  const port = await freePort()
  let child: ChildProcess | undefined
  const killWithUs = (): void => void child?.kill('SIGKILL')
  process.once('exit', killWithUs)
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => 20, maxRetriesPerRequest: null })
  client.on('error', () => {})
  const start = async (): Promise<void> => {
    const words = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      folder,
      ...settings,
    ]
    child = spawn(find('redis-server') as string, words, { stdio: 'ignore' })
    await eventually(() => answers(port))
    if (client.status === 'wait') await client.connect()
    await client.ping()
  }
  const kill = async (): Promise<void> => {
    const dying = child
    if (!dying || dying.exitCode !== null || dying.signalCode !== null) return
    const ended = new Promise((resolve) => dying.once('exit', resolve))
    dying.kill('SIGKILL')
    await ended
  }
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    client,
    kill,
    start,
    async stop() {
      process.off('exit', killWithUs)
      client.disconnect()
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function answers(port: number): Promise<boolean> {
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => null })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.ping()) === 'PONG'
  } catch {
    return false
  } finally {
    client.disconnect()
  }
}

/**
 * From below the range that the system hands out by itself, so that nobody is given it between our look and the server's start, nor while the
 * server is down.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000)
    const server = createServer()
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!free) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}
