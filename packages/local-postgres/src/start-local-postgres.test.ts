import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test, vi } from 'vitest'
import { identify, isAlive } from './process/identity.ts'
import { Holder, holdServer } from './scene/hold-server.ts'
import { scratchFolder } from './scene/scratch-folder.ts'
import { withClient } from './server/connection.ts'
import { startLocalPostgres } from './start-local-postgres.ts'

vi.setConfig({ testTimeout: 120_000 })

test('[O-02] starts a durable PostgreSQL 18 with a database of its own, on a private Unix socket only', async () => {
  const server = await startLocalPostgres({ dataFolder: join(scratchFolder(), 'data') })
  const settings = await withClient(server.url, (client) =>
    client.query(`
      select current_user as user,
             current_database() as database,
             inet_server_addr() as address,
             current_setting('listen_addresses') as listening,
             current_setting('fsync') as fsync,
             current_setting('full_page_writes') as full_page_writes,
             current_setting('shared_preload_libraries') as libraries`),
  )
  expect(server).toMatchObject({ role: 'started', version: expect.stringMatching(/^18\./) })
  expect(settings.rows).toEqual([
    {
      user: 'sluice',
      database: 'sluice',
      address: null,
      listening: '',
      fsync: 'on',
      full_page_writes: 'on',
      libraries: 'pg_stat_statements',
    },
  ])
  expect(statSync(server.socketFolder).mode & 0o777).toBe(0o700)
  await server.stop()
})

test("[O-02] tables of the user's own do not get into the schema of the engine, which is named like the role", async () => {
  const server = await startLocalPostgres({ dataFolder: join(scratchFolder(), 'data') })
  const { rows } = await withClient(server.url, async (client) => {
    await client.query('create schema sluice; create table mine (n integer)')
    return client.query(`select schemaname from pg_tables where tablename = 'mine'`)
  })
  expect(rows).toEqual([{ schemaname: 'public' }])
  await server.stop()
})

test('stopping twice stops once, and the data is there at the next start', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const first = await startLocalPostgres({ dataFolder })
  await withClient(first.url, (client) => client.query('create table kept as select 7 as number'))
  const process = identify(first.pid)
  await Promise.all([first.stop(), first.stop()])
  await first.stop()
  expect(isAlive(process)).toBe(false)

  const second = await startLocalPostgres({ dataFolder })
  const kept = await withClient(second.url, (client) => client.query('select number from kept'))
  expect(kept.rows).toEqual([{ number: 7 }])
  await second.stop()
})

test('settings given by the caller replace ours, and odd characters in the path do no harm', async () => {
  const dataFolder = join(scratchFolder(), `a "b", c%20d'é`)
  const server = await startLocalPostgres({ dataFolder, settings: { max_connections: '13' } })
  const result = await withClient(server.url, (client) => client.query('show max_connections'))
  expect(result.rows).toEqual([{ max_connections: '13' }])
  await server.stop()
})

test('what happens is told in sentences', async () => {
  const log: string[] = []
  const dataFolder = join(scratchFolder(), 'data')
  const server = await startLocalPostgres({ dataFolder, log: (message) => log.push(message) })
  await server.stop()
  expect(log).toEqual([expect.stringMatching(/^started PostgreSQL 18\.\d+, process \d+, data in /), 'stopped PostgreSQL'])
})

test('[O-02] a second process attaches, the starter may leave, and the last one out stops the server', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const starter = await holdServer({ dataFolder })
  const second = await holdServer({ dataFolder })
  const process = identify(starter.server.pid)
  expect([starter.server.role, second.server.role]).toEqual(['started', 'attached'])
  expect(second.server).toMatchObject({ pid: starter.server.pid, url: starter.server.url })

  const client = new Client(second.server.url)
  await client.connect()
  await starter.holder.stop()
  await expect(client.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] })
  await client.end()

  await second.holder.stop()
  expect(isAlive(process)).toBe(false)
})

test('[O-02] four processes that start at once in an empty folder share one server', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const holders = Array.from({ length: 4 }, () => new Holder({ dataFolder }))
  const servers = await Promise.all(holders.map((holder) => holder.next('started')))
  expect(new Set(servers.map(({ pid }) => pid)).size).toBe(1)
  expect(servers.map(({ role }) => role).toSorted()).toEqual(['attached', 'attached', 'attached', 'started'])

  const process = identify(servers[0]?.pid ?? 0)
  await Promise.all(holders.map((holder) => holder.stop()))
  expect(isAlive(process)).toBe(false)
})

test('two starts in one process are two users of one server', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const [one, two] = await Promise.all([startLocalPostgres({ dataFolder }), startLocalPostgres({ dataFolder })])
  expect(one.pid).toBe(two.pid)
  await one.stop()
  await expect(withClient(two.url, (client) => client.query('select'))).resolves.toBeDefined()
  await two.stop()
})

const debian = '/usr/lib/postgresql/15/bin'
test.skipIf(!statSync(debian, { throwIfNoEntry: false }))('runs another PostgreSQL when told where it is', async () => {
  const server = await startLocalPostgres({ dataFolder: join(scratchFolder(), 'data'), binaries: debian })
  expect(server.version).toMatch(/^15\./)
  await server.stop()
})
