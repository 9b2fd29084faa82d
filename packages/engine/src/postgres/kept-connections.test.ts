/** Connections that stay in hand: the same one serves call after call, more are opened while it is busy, and a broken one is replaced. */
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { systemClock } from '../support/clock.ts'
import { KeptConnections } from './kept-connections.ts'

const pidOf = async (client: pg.ClientBase): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid as number

const open = (
  url: string,
  max: number,
  limitMs?: number,
  callsMax = 1,
): { kept: KeptConnections; pool: pg.Pool; lost: string[] } => {
  const pool = new pg.Pool({ connectionString: url, max, pipeline: callsMax > 1 })
  pool.on('error', () => {})
  const lost: string[] = []
  const answers = limitMs === undefined ? undefined : { limitMs, clock: systemClock }
  return { pool, lost, kept: new KeptConnections(pool, { answers, callsMax, onLost: ({ message }) => void lost.push(message) }) }
}

const use = async <T>(kept: KeptConnections, act: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
  const client = await kept.take()
  try {
    const result = await act(client)
    kept.giveBack(client)
    return result
  } catch (error) {
    kept.giveBack(client, error)
    throw error
  }
}

test('one connection serves call after call; as many as are allowed serve calls at once, and who comes later waits', async ({
  database,
}) => {
  const { kept, pool } = open(database.url, 2)
  const first = await use(kept, pidOf)
  expect(await use(kept, pidOf)).toBe(first)
  const pids = await Promise.all(Array.from({ length: 6 }, () => use(kept, pidOf)))
  expect(new Set(pids).size).toBe(2)
  expect(pids).toContain(first)
  expect(pool.totalCount).toBe(2)
  await kept.end()
  expect(pool.totalCount).toBe(0)
})

test('[E-27] a connection that breaks in hand is told and replaced', async ({ client, database }) => {
  const { kept, lost } = open(database.url, 1)
  const first = await use(kept, pidOf)
  await client.query('select pg_terminate_backend($1)', [first])
  await eventually(() => lost.length > 0)
  expect(await use(kept, pidOf)).not.toBe(first)
  await kept.end()
  expect(lost).toHaveLength(1)
})

test('a connection whose call fails is not used again', async ({ database }) => {
  const { kept, lost } = open(database.url, 1)
  let first = 0
  const failing = use(kept, async (client) => {
    first = await pidOf(client)
    await client.query('select 1 / 0')
  })
  await expect(failing).rejects.toMatchObject({ code: '22012' })
  expect(await use(kept, pidOf)).not.toBe(first)
  await kept.end()
  expect(lost).toEqual([])
})

test('the end waits for calls under way', async ({ database }) => {
  const { kept } = open(database.url, 1)
  await use(kept, pidOf)
  const slow = use(kept, (client) => client.query('select pg_sleep(0.1)'))
  await kept.end()
  await expect(slow).resolves.toMatchObject({ rowCount: 1 })
  await expect(use(kept, pidOf)).rejects.toThrow('after calling end')
})

test('[E-27] a call without an answer is cut after its time, and those beside it are not', async ({ database }) => {
  const { kept, lost } = open(database.url, 2, 2_500)
  const silent = use(kept, (client) => client.query('select pg_sleep(60)'))
  const ended = silent.then(
    () => true,
    () => true,
  )
  const cut = expect(silent).rejects.toThrow('Connection terminated')
  const first = await use(kept, pidOf)
  while (!(await Promise.race([ended, Promise.resolve(false)]))) expect(await use(kept, pidOf)).toBe(first)
  await cut
  await kept.end()
  expect(lost).toEqual([])
})

test('where connections pipeline, calls go out behind one another on one of them and each gets its own answer', async ({
  database,
}) => {
  const { kept, pool } = open(database.url, 2, undefined, 3)
  await use(kept, pidOf)
  const answers = await Promise.all(
    [1, 2, 3].map((n) =>
      use(kept, async (client) => (await client.query('select $1::int as n, pg_sleep(0.002)', [n])).rows[0]?.n),
    ),
  )
  expect(answers).toEqual([1, 2, 3])
  expect(pool.totalCount).toBe(1)
  await Promise.all([1, 2, 3, 4].map(() => use(kept, pidOf)))
  expect(pool.totalCount).toBe(2)
  await kept.end()
})

test('a call that fails takes along neither the one ahead of it nor the one behind it, and then the connection goes', async ({
  database,
}) => {
  const { kept, lost } = open(database.url, 1, undefined, 3)
  const first = await use(kept, pidOf)
  const [ahead, failing, behind] = await Promise.allSettled([
    use(kept, pidOf),
    use(kept, (client) => client.query('select 1 / 0')),
    use(kept, pidOf),
  ])
  expect(ahead).toMatchObject({ value: first })
  expect(failing).toMatchObject({ reason: { code: '22012' } })
  expect(behind).toMatchObject({ value: first })
  expect(await use(kept, pidOf)).not.toBe(first)
  await kept.end()
  expect(lost).toEqual([])
})

test('behind a call that waits for somebody none is sent', async ({ database, client }) => {
  const { kept, pool } = open(database.url, 2, undefined, 2)
  const first = await use(kept, pidOf)
  await client.query('select pg_advisory_lock(5)')
  const waiting = use(kept, (each) => each.query('select pg_advisory_xact_lock(5)'))
  await setTimeout(20)
  expect(await use(kept, pidOf)).not.toBe(first)
  expect(pool.totalCount).toBe(2)
  await client.query('select pg_advisory_unlock(5)')
  await waiting
  await kept.end()
})

test('[E-27] of calls on one connection, one without an answer is cut after its time, counted from when its turn came', async ({
  database,
}) => {
  const { kept, lost } = open(database.url, 1, 1_000, 2)
  await use(kept, pidOf)
  const slow = use(kept, (client) => client.query('select pg_sleep(0.6)'))
  const silent = use(kept, (client) => client.query('select pg_sleep(60)'))
  const startedMs = performance.now()
  await expect(silent).rejects.toThrow('Connection terminated')
  expect(performance.now() - startedMs).toBeGreaterThan(1_500)
  await expect(slow).resolves.toMatchObject({ rowCount: 1 })
  await kept.end()
  expect(lost).toEqual([])
})
