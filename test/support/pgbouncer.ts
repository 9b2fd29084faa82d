/**
 * A real PgBouncer in front of a test server, as strict as they come: transactions share a few server connections, so neither LISTEN nor a
 * prepared statement survives its transaction.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { find } from '#scripts/test-servers'
import { eventually } from './database.ts'

export interface Pgbouncer {
  /** The same database, through the pooler. */
  through(url: string): string
  stop(): Promise<void>
}

/** `serverUrl` is the address of a server on a Unix socket. */
export async function startPgbouncer(serverUrl: string, { connections }: { connections: number }): Promise<Pgbouncer> {
  const program = find('pgbouncer') as string
  const socketFolder = new URL(serverUrl).searchParams.get('host') as string
  // It refuses root, and only the owner of the server's socket may pass.
  const { uid, gid } = statSync(socketFolder)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bouncer-'))
  mkdirSync(join(folder, 'socket'))
  const settings: Record<string, string | number> = {
    listen_addr: '',
    listen_port: 6432,
    unix_socket_dir: join(folder, 'socket'),
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: connections,
    max_client_conn: 500,
    server_idle_timeout: 60,
    ...(keepsStatements(program) ? { max_prepared_statements: 0 } : {}),
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(file, `[databases]\n* = host=${socketFolder} port=5432 user=sluice\n[pgbouncer]\n${lines.join('\n')}\n`)
  const log = join(folder, 'log')
  writeFileSync(log, '')
  for (const path of [folder, join(folder, 'socket'), file, log]) chownSync(path, uid, gid)
  const child = spawn('sh', ['-c', 'exec "$0" "$1" > "$2" 2>&1', program, file, log], { uid, gid, cwd: '/', stdio: 'ignore' })
  const killWithUs = (): void => void child.kill('SIGKILL')
  process.once('exit', killWithUs)
  const through = (url: string): string => {
    const { pathname } = new URL(url)
    return `postgresql://sluice@localhost:6432${pathname}?host=${encodeURIComponent(join(folder, 'socket'))}`
  }
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${readFileSync(log, 'utf8')}`)
    return answers(through(serverUrl))
  })
  return {
    through,
    async stop() {
      process.off('exit', killWithUs)
      await end(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** From 1.21 on it can keep prepared statements and has to be told not to. */
function keepsStatements(program: string): boolean {
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout) ?? []
  return Number(major) > 1 || Number(minor) >= 21
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL')
    await ended
  }
}
