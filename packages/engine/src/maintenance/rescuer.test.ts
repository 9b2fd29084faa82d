/** When the rescuer looks: nobody is declared dead for a moment after an outage, and what somebody holds is not asked for all the time. */
import { expect } from 'vitest'
import { test } from '../../../../test/support/database.ts'
import { Database } from '../postgres/database.ts'
import { silentLog } from '../support/log.ts'
import { HandClock } from '../testing/hand-clock.ts'
import { Rescuer } from './rescuer.ts'

test('[E-07] [E-11] what somebody keeps locked of a dead process is looked at less and less often', async ({
  client,
  database,
}) => {
  const connections = new Database({ url: database.url, poolMax: 2, prepare: true, log: silentLog })
  const clock = new HandClock()
  let looked: (() => void)[] = []
  const rescuer = new Rescuer({
    database: connections,
    clock,
    log: silentLog,
    crashesMax: 3,
    term: () => 1,
    onReady: () => {},
    onLooked: () => looked.splice(0).forEach((tell) => tell()),
  })
  await client.query(`update sluice.leader set term = 1, until = 'infinity'`)
  for (const waitMs of [250, 500, 1_000, 2_000, 4_000, 4_000]) {
    const look = new Promise<void>((resolve) => (looked = [resolve]))
    rescuer.sleep(-5)
    clock.turn(waitMs - 1)
    rescuer.sleep(-7) // another beat, which does not put it off
    expect(looked).toHaveLength(1)
    clock.turn(1)
    await look
  }
  rescuer.sleep(10_000)
  const look = new Promise<void>((resolve) => (looked = [resolve]))
  rescuer.sleep(-5)
  clock.turn(250)
  await look
  rescuer.stop()
  await connections.close()
})

test('[E-07] [E-27] after an outage the processes that live have time to come back', async ({ client, database }) => {
  const connections = new Database({ url: database.url, poolMax: 2, prepare: true, log: silentLog })
  const clock = new HandClock()
  const looks: string[] = []
  const rescuer = new Rescuer({
    database: connections,
    clock,
    log: silentLog,
    crashesMax: 3,
    term: () => 1,
    onReady: () => {},
    onLooked: () => looks.push('looked'),
  })
  await client.query(`update sluice.leader set term = 1, until = 'infinity'`)
  await client.query(`insert into sluice.worker (name, lease_until) values ('back in a second', sluice.now() - interval '1 s')`)
  const present = async () => (await client.query('select from sluice.worker')).rowCount
  rescuer.holdOff()
  await rescuer.runOnce()
  expect(await present()).toBe(1)
  clock.turn(3_000)
  await rescuer.runOnce()
  expect(await present()).toBe(0)
  rescuer.stop()
  await connections.close()
})
