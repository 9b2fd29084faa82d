/** When the rescuer looks: nobody is declared dead for a moment after an outage, and what somebody holds is not asked for all the time. */
import { expect, vi } from 'vitest'
import { test as base } from '../../../../test/support/database.ts'
import { Database } from '../postgres/database.ts'
import { silentLog } from '../support/log.ts'
import { HandClock } from '../testing/hand-clock.ts'
import { Rescuer } from './rescuer.ts'

/** One that leads, and whose clock stands still. */
const test = base.extend<{ scene: { rescuer: Rescuer; clock: HandClock; nextLook: () => Promise<void> } }>({
  scene: async ({ client, database }, use) => {
    const connections = new Database({ url: database.url, poolMax: 2, prepare: true, log: silentLog })
    const clock = new HandClock()
    let onLooked = (): void => {}
    const rescuer = new Rescuer({
      database: connections,
      clock,
      log: silentLog,
      crashesMax: 3,
      term: () => 1,
      onReady: () => {},
      onLooked: () => onLooked(),
    })
    await client.query(`update sluice.leader set term = 1, until = 'infinity'`)
    await use({ rescuer, clock, nextLook: () => new Promise((resolve) => (onLooked = resolve)) })
    rescuer.stop()
    await connections.close()
  },
})

test('[E-07] [E-11] what somebody keeps locked of a dead process is looked at less and less often', async ({ scene }) => {
  const { rescuer, clock, nextLook } = scene
  const looks = vi.spyOn(rescuer, 'runOnce')
  const lookAfter = async (waitMs: number): Promise<void> => {
    looks.mockClear()
    const look = nextLook()
    rescuer.sleep(-5)
    clock.turn(waitMs - 1)
    rescuer.sleep(-7) // another beat, which does not put it off
    expect(looks).not.toHaveBeenCalled()
    clock.turn(1)
    expect(looks).toHaveBeenCalledTimes(1)
    await look
  }
  for (const waitMs of [250, 500, 1_000, 2_000, 4_000, 4_000]) await lookAfter(waitMs)
  rescuer.sleep(10_000)
  await lookAfter(250)
})

test('[E-07] [E-27] after an outage the processes that live have time to come back', async ({ scene, client }) => {
  const { rescuer, clock } = scene
  await client.query(`insert into sluice.worker (name, lease_until) values ('back in a second', sluice.now() - interval '1 s')`)
  const present = async () => (await client.query('select from sluice.worker')).rowCount
  rescuer.holdOff()
  await rescuer.runOnce()
  expect(await present()).toBe(1)
  clock.turn(3_000)
  await rescuer.runOnce()
  expect(await present()).toBe(0)
})
