/** What becomes of the connection of a listener that is refused; what it hears is in test/guarantees/lost-wake-ups.test.ts. */
import type pg from 'pg'
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { silentLog } from '../support/log.ts'
import { HandClock } from '../testing/hand-clock.ts'
import { Database } from './database.ts'
import { Listener } from './listener.ts'

test('[E-27] a listener that is refused keeps no connection, however often it tries', async ({ client, database: { url } }) => {
  let tried = 0
  // As a standby does: it takes the connection and refuses to listen.
  const onConnect = async (one: pg.ClientBase): Promise<void> => {
    tried++
    await one.query('begin')
    await one.query('select 1 / 0').catch(() => {})
  }
  const database = new Database({ url, poolMax: 1, prepare: true, log: silentLog, onConnect })
  const clock = new HandClock()
  const nobody = { onMessage: () => {}, onOwnMessage: () => {}, onHears: () => {}, onConnect: () => {} }
  const listener = new Listener({ database, clock, log: silentLog, ...nobody })
  const open = async (): Promise<number> => {
    const { rows } = await client.query(
      `select from pg_stat_activity where application_name = 'sluice listen' and datname = current_database()`,
    )
    return rows.length
  }
  await listener.start()
  await eventually(() => {
    clock.turn(5_000)
    return tried >= 4
  })
  await listener.stop()
  await eventually(async () => (await open()) === 0, 5_000)
  expect(listener.hears).toBe(false)
  await database.close()
})
