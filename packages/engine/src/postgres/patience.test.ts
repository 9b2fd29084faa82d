/** Transactions share connections that are open, and get more when they have to wait: on real connections, with a clock turned by hand. */
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { silentLog } from '../support/log.ts'
import { HandClock } from '../testing/hand-clock.ts'
import { Database } from './database.ts'
import { Patience } from './patience.ts'

test('[E-09] short transactions that come together share few connections, long ones get one each, up to the limit', async ({
  database,
}) => {
  const connectionsMax = 4
  const connections = new Database({ url: database.url, poolMax: connectionsMax, prepare: true, log: silentLog })
  const { pool } = connections
  const clock = new HandClock()
  const patience = new Patience(pool, connectionsMax, clock)
  const hold = async (until: Promise<unknown>): Promise<void> => {
    const client = await patience.connect()
    begun++
    await client.query('select 1')
    await until
    client.release()
  }
  let begun = 0
  await hold(Promise.resolve())
  await Promise.all(Array.from({ length: 12 }, () => hold(Promise.resolve())))
  expect(begun).toBe(13)
  expect(pool.totalCount).toBe(1) // no moment has passed

  begun = 0
  let letGo = (): void => {}
  const gate = new Promise<void>((resolve) => void (letGo = resolve))
  const long = Array.from({ length: 6 }, () => hold(gate))
  await eventually(() => begun === 1)
  clock.turn(50)
  await eventually(() => begun === connectionsMax)
  expect(pool.totalCount).toBe(connectionsMax)
  letGo()
  await Promise.all(long)
  expect(begun).toBe(6)
  await connections.close()
})
