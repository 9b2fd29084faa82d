import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test, vi } from 'vitest'
import { identify, isAlive, signal } from './process/identity.ts'
import { waitUntil } from './process/wait-until.ts'
import { Holder, holdServer } from './scene/hold-server.ts'
import { scratchFolder } from './scene/scratch-folder.ts'
import { withClient } from './server/connection.ts'
import { startLocalPostgres } from './start-local-postgres.ts'

vi.setConfig({ testTimeout: 120_000 })

test('[O-02] after kill -9 of Node the next start attaches to the orphan and can stop it', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const { holder, server } = await holdServer({ dataFolder })
  const orphan = identify(server.pid)
  await holder.signal('SIGKILL')

  const next = await startLocalPostgres({ dataFolder })
  expect(next).toMatchObject({ role: 'attached', pid: orphan.pid })
  await next.stop()
  expect(isAlive(orphan)).toBe(false)
})

test('[O-02] after kill -9 of PostgreSQL its user restarts it, and no acknowledged row is lost', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const { holder, server } = await holdServer({ dataFolder })
  const written = await writeUntilKilled(server.url, () => signal(server.pid, 'SIGKILL'))

  const { pid } = await holder.next('restarted')
  expect(pid).not.toBe(server.pid)
  expect(await countRows(server.url)).toBeOneOf([written, written + 1])
  await holder.stop()
})

test('[O-02] after kill -9 of Node and PostgreSQL the next start recovers, and no acknowledged row is lost', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const { holder, server } = await holdServer({ dataFolder })
  const written = await writeUntilKilled(server.url, () => {
    void holder.signal('SIGKILL')
    signal(server.pid, 'SIGKILL')
  })

  const next = await startLocalPostgres({ dataFolder })
  expect(next.role).toBe('started')
  expect(await countRows(next.url)).toBeOneOf([written, written + 1])
  await next.stop()
})

test('[O-02] a start succeeds while the dead server is a zombie that holds its pid', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const { holder, server } = await holdServer({ dataFolder })
  const dead = identify(server.pid)
  await holder.signal('SIGSTOP')
  signal(server.pid, 'SIGKILL')
  await waitUntil(() => !isAlive(dead), 10_000)
  expect(process.kill(server.pid, 0)).toBe(true)

  const next = await startLocalPostgres({ dataFolder })
  expect(next.role).toBe('started')
  await holder.signal('SIGCONT')
  expect(await holder.next('restarted')).toMatchObject({ pid: next.pid })
  await holder.stop()
  await next.stop()
})

test('[O-02] a process that attached restarts the server when the starter is gone', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const starter = await holdServer({ dataFolder })
  const second = await holdServer({ dataFolder })
  await starter.holder.signal('SIGKILL')
  signal(second.server.pid, 'SIGKILL')

  const { pid } = await second.holder.next('restarted')
  await expect(withClient(second.server.url, (client) => client.query('select'))).resolves.toBeDefined()
  await second.holder.stop()
  expect(isAlive(identify(pid))).toBe(false)
})

test('two processes that see the server die end up on the same new one', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const one = await holdServer({ dataFolder })
  const two = await holdServer({ dataFolder })
  signal(one.server.pid, 'SIGKILL')
  const [first, second] = await Promise.all([one.holder.next('restarted'), two.holder.next('restarted')])
  expect(first.pid).toBe(second.pid)
  await one.holder.stop()
  await two.holder.stop()
})

test('a busy backend of the dead server delays the new one instead of failing it', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const { holder, server } = await holdServer({ dataFolder })
  const busy = new Client(server.url)
  busy.on('error', () => {})
  await busy.connect()
  const backend = await busy.query<{ pid: number }>('select pg_backend_pid() as pid')
  // Busy until the new server has been refused because of it.
  const enough = join(dataFolder, 'enough')
  const loop = `while pg_stat_file(${busy.escapeLiteral(enough)}, true) is null loop null; end loop;`
  const work = busy.query(`do $$ begin ${loop} end $$`).catch(() => {})
  await isActive(server.url, backend.rows[0]?.pid ?? 0)
  signal(server.pid, 'SIGKILL')
  const refused = () => readFileSync(join(dataFolder, 'server.log'), 'utf8').includes('pre-existing shared memory block')
  expect(await waitUntil(refused, 30_000)).toBe(true)
  writeFileSync(enough, '')

  await holder.next('restarted')
  await work
  await holder.stop()
})

test('[O-02] kill -9 of Node while initdb works leaves nothing half-made', async () => {
  const dataFolder = await interruptInitdb()
  const next = await startLocalPostgres({ dataFolder })
  expect(next.role).toBe('started')
  await next.stop()
})

/** Where a process was killed in the middle of initdb. On a busy machine initdb may be quicker than we are; then another one is begun. */
async function interruptInitdb(): Promise<string> {
  for (;;) {
    const dataFolder = join(scratchFolder(), 'data')
    const interrupted = new Holder({ dataFolder })
    expect(await waitUntil(() => draftsIn(dataFolder).some((draft) => draft.includes('pg_wal')), 30_000)).toBe(true)
    await interrupted.signal('SIGKILL')
    if (!existsSync(join(dataFolder, 'cluster'))) return dataFolder
    await (await startLocalPostgres({ dataFolder })).stop()
  }
}

/** Writes row after row; in the middle of it kills, and tells how many rows were acknowledged. */
async function writeUntilKilled(url: string, kill: () => void): Promise<number> {
  const client = new Client(url)
  client.on('error', () => {})
  await client.connect()
  await client.query('create table written (number int primary key)')
  let acknowledged = 0
  try {
    for (;;) {
      const answer = client.query('insert into written (number) values ($1)', [acknowledged + 1])
      if (acknowledged === 200) kill()
      await answer
      acknowledged += 1
    }
  } catch {
    return acknowledged
  }
}

async function countRows(url: string): Promise<number> {
  const result = await withClient(url, (client) => client.query<{ rows: number }>('select count(*)::int as rows from written'))
  return result.rows[0]?.rows ?? 0
}

async function isActive(url: string, pid: number): Promise<void> {
  await withClient(url, (client) =>
    waitUntil(async () => {
      const active = await client.query(`select from pg_stat_activity where pid = $1 and state = 'active'`, [pid])
      return active.rowCount === 1
    }, 10_000),
  )
}

function draftsIn(dataFolder: string): string[] {
  if (!existsSync(dataFolder)) return []
  return readdirSync(dataFolder, { recursive: true, encoding: 'utf8' }).filter((name) => name.startsWith('cluster.'))
}
