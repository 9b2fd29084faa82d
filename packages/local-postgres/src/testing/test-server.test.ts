import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { waitUntil } from '../process/wait-until.ts'
import { withClient } from '../server/connection.ts'
import { createTestDatabase } from './test-database.ts'
import { startTestServer, type TestServer } from './test-server.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({
    prepare: (url) => withClient(url, async (client) => void (await client.query('create table item (name text)'))),
  })
})
afterAll(() => server.stop())

const count = (url: string) =>
  withClient(url, async (client) => (await client.query<{ n: number }>('select count(*)::int as n from item')).rows[0]?.n)
const add = (url: string) => withClient(url, (client) => client.query(`insert into item values ('one')`))

test('[O-02] each database is a copy of the template and knows nothing of the others', async () => {
  const [one, two] = await Promise.all([server.createDatabase(), server.createDatabase()])
  await add(one.url)
  expect([await count(one.url), await count(two.url)]).toEqual([1, 0])
  await Promise.all([one.drop(), two.drop()])
  await expect(count(one.url)).rejects.toMatchObject({ code: '3D000' })
})

test('[O-02] a database takes well under a second, from two strings', async () => {
  const times: number[] = []
  // The quickest counts: on a busy machine everything is slow now and then.
  for (let turn = 0; turn < 5 || (turn < 30 && Math.min(...times) >= 500); turn += 1) {
    const began = performance.now()
    const database = await createTestDatabase({ serverUrl: server.url, template: server.template })
    times.push(performance.now() - began)
    await database.drop()
  }
  expect(Math.min(...times)).toBeLessThan(500)
})

test('many processes can copy the template at once', async () => {
  const databases = await Promise.all(Array.from({ length: 8 }, () => server.createDatabase()))
  expect(new Set(databases.map(({ url }) => url)).size).toBe(8)
  await Promise.all(databases.map((database) => database.drop()))
})

test('a template in use is waited for, longer than PostgreSQL itself would', async () => {
  const source = await server.createDatabase()
  const template = new URL(source.url).pathname.slice(1)
  const { copying } = await withClient(source.url, async () => {
    const copying = createTestDatabase({ serverUrl: server.url, template })
    await secondAttempt(template)
    return { copying }
  })
  const copy = await copying
  await Promise.all([source.drop(), copy.drop()])
})

test('the server can be killed, stays dead, and comes back with what it had acknowledged', async () => {
  const database = await server.createDatabase()
  await add(database.url)
  await server.kill9()
  await expect(count(database.url)).rejects.toThrow()
  await server.restart()
  expect(await count(database.url)).toBe(1)
  await server.restart()
  expect(await count(database.url)).toBe(1)
  await database.drop()
})

/** Each attempt has a backend of its own; a second one shows that the first was refused. */
async function secondAttempt(template: string): Promise<void> {
  const backends = new Set<number>()
  await withClient(server.url, (client) =>
    waitUntil(async () => {
      const active = await client.query<{ pid: number }>(
        `select pid from pg_stat_activity where query like 'create database%"' || $1 || '"%' and state = 'active'`,
        [template],
      )
      for (const { pid } of active.rows) backends.add(pid)
      return backends.size > 1
    }, 30_000),
  )
}
