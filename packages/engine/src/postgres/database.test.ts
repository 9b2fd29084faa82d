/** A connection that breaks while nobody uses it is a line in the log, one that ends because we end is none, and what a user takes his time for is no breakage. */
import pg from 'pg'
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { pause, systemClock } from '../support/clock.ts'
import { type Log, silentLog } from '../support/log.ts'
import { explainConnect } from './connect.ts'
import { Database } from './database.ts'
import { isTransient } from './transient.ts'

test('[O-07] an idle connection that breaks is told, but not one that the server ends while we stop', async ({
  database,
  client,
}) => {
  const lines: string[] = []
  const log: Log = { info: (event) => void lines.push(event), warn: () => {}, error: () => {} }
  const pools = new Database({ url: database.url, poolMax: 2, prepare: false, log })
  const pidOf = async (): Promise<number> => {
    const { rows } = await pools.pool.query<{ pid: number }>('select pg_backend_pid() as pid')
    return rows[0]?.pid as number
  }
  await client.query('select pg_terminate_backend($1)', [await pidOf()])
  await eventually(() => lines.includes('idle connection lost'))
  lines.length = 0

  await pidOf()
  const goodbye = new pg.DatabaseError('terminating connection due to administrator command', 1, 'error')
  // What a server that stops says on connections that are ended, but not closed yet.
  const closing = pools.close()
  pools.pool.emit('error', goodbye, undefined as never)
  await closing
  pools.pool.emit('error', goodbye, undefined as never)
  expect(lines).toEqual([])
})

test('[E-27] a transaction whose owner thinks, or whose statement takes long, is not cut; one of ours without an answer is', async ({
  database,
}) => {
  const answers = { limitMs: 150, clock: systemClock }
  const pools = new Database({ url: database.url, poolMax: 2, prepare: false, log: silentLog, answers })
  await pools.transaction(10_000, async ({ client }) => {
    await pause(systemClock, 2 * answers.limitMs)
    await client.query('select pg_sleep(0.3)')
  })
  const ours = pools.transaction(10_000, ({ client, answered }) => answered(client.query('select pg_sleep(60)')))
  await expect(ours).rejects.toThrow('Connection terminated')
  expect((await pools.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await pools.close()
})

test('[E-11] a pooler that forgets statements is told once, and all that were under way are sent again without names', async ({
  database,
}) => {
  const lines: string[] = []
  const log: Log = { info: () => {}, warn: (event) => void lines.push(event), error: () => {} }
  const pools = new Database({ url: database.url, poolMax: 2, prepare: true, log })
  const statement = { name: 'said', text: 'select $1::int as n, pg_sleep(0.05)' }
  const say = (n: number): Promise<unknown[][]> => pools.send(pools.hot, statement, [n])
  await Promise.all([say(1), say(2), say(3)])
  // As if each connection led to another server now.
  const connections = await Promise.all([1, 2, 3].map(async () => pools.hot.take()))
  for (const connection of connections) await connection.query('deallocate all')
  for (const connection of connections) pools.hot.giveBack(connection)

  const answers = await Promise.all([say(4), say(5), say(6)])
  expect(answers.map(([row]) => row?.[0])).toEqual([4, 5, 6])
  expect(lines).toEqual(['prepared statements are off'])
  await pools.close()
})

test('[E-11] whatever somebody’s error quotes, it turns no names off', async ({ database }) => {
  const lines: string[] = []
  const log: Log = { info: () => {}, warn: (event) => void lines.push(event), error: () => {} }
  const pools = new Database({ url: database.url, poolMax: 2, prepare: true, log })
  const refuse = { name: 'refused', text: `select sluice.refuse('SL001', 'unknown kind "my prepared statement"', 'Define it.')` }
  await expect(pools.send(pools.hot, refuse, [])).rejects.toThrow('prepared statement')
  expect(lines).toEqual([])
  await pools.close()
})

test.for([
  ["'{}'", []],
  ["'{1,-2,9007199254740991}'", [1, -2, 9_007_199_254_740_991]],
  ["'{1,null,3}'", [1, null, 3]],
  [
    "'{{1,2},{3,4}}'",
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ["'[2:3]={5,6}'", [5, 6]],
] as const)('a list of ids %s is read as numbers', async ([text, ids], { database }) => {
  const pools = new Database({ url: database.url, poolMax: 1, prepare: false, log: silentLog })
  expect((await pools.pool.query(`select ${text}::bigint[] as ids`)).rows).toEqual([{ ids }])
  await pools.close()
})

test('[E-27] an answer of the server that speaks of a timeout is not a server that is away', async ({ client }) => {
  const said = await client
    .query(`do $$ begin raise exception 'our partner reported: connection timeout' using errcode = 'P0001'; end $$`)
    .catch((error: unknown) => error)
  expect(said).toMatchObject({ code: 'P0001' })
  expect([explainConnect(said), isTransient(said)]).toEqual([said, false])
  expect(explainConnect(new Error('Connection terminated unexpectedly'))).toMatchObject({ code: 'DATABASE_UNREACHABLE' })
})
