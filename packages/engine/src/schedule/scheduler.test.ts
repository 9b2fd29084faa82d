/** When the leader looks: at the time of the next fire, when it is told, and not otherwise. */
import pg from 'pg'
import { expect, vi } from 'vitest'
import { eventually } from '../../../../test/support/database.ts'
import { sendsBeatsOnly } from '../../../../test/support/idle.ts'
import { type Scene, test } from '../../../../test/support/schedule-scene.ts'
import { defineKind } from '../job/kind.ts'
import { Database } from '../postgres/database.ts'
import { silentLog } from '../support/log.ts'
import { HandClock } from '../testing/hand-clock.ts'
import { defineSchedule } from './schedule.ts'
import { Scheduler } from './scheduler.ts'

const report = defineKind('report', { run: () => {} })
const dayMs = 86_400_000

/** A scheduler that leads on the scene's database, with a schedule at 15:00; it is noon. */
async function leading(scene: Scene) {
  await scene.define([report])
  await scene.turnTo('2026-05-01T12:00Z')
  await scene.set('daily', { cron: '0 15 * * *', job: report({}) })
  const clock = new HandClock()
  const office = { term: (await scene.lead()) as number | undefined, hears: true }
  const scheduler = new Scheduler({
    database: scene.database,
    clock,
    log: silentLog,
    term: () => office.term,
    hears: () => office.hears,
    onReady: () => {},
  })
  const looks = vi.spyOn(scene.database, 'send')
  const beat = (time: string) => scheduler.onBeat({ nowMs: Date.parse(time) })
  // `turnTo` ends the term of an hour; renewed as a heartbeat would.
  const turnTo = async (time: string) => {
    await scene.turnTo(time)
    await scene.database.pool.query(`update sluice.leader set until = sluice.now() + interval '1 hour'`)
  }
  /** Takes office with a beat; resolves when the look that follows is over and the timer is set. */
  const takeOffice = async () => {
    beat('2026-05-01T12:00Z')
    await eventually(() => looks.mock.results.length === 1)
    await looks.mock.results[0]?.value
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { clock, scheduler, office, looks, beat, turnTo, takeOffice }
}

test('[E-18] [E-11] it sleeps until the next fire, and an idle day costs no statement', async ({ scene }) => {
  const { clock, scheduler, looks, beat, turnTo } = await leading(scene)
  await scheduler.runOnce()
  expect(looks).toHaveBeenCalledTimes(1)
  clock.turn(3 * 3_600_000 - 60_000)
  expect(looks).toHaveBeenCalledTimes(1)
  await turnTo('2026-05-01T15:00Z')
  clock.turn(60_000)
  await eventually(async () => (await scene.fires()).length === 1)
  scheduler.stop()
  beat('2026-05-01T15:00Z')
  clock.turn(9 * dayMs)
  expect(await scene.fires()).toEqual(['2026-05-01T15:00Z'])
})

test('[E-18] a clock of the database that was set forward is noticed with the next heartbeat', async ({ scene }) => {
  const { clock, beat, turnTo, takeOffice } = await leading(scene)
  await takeOffice()
  await turnTo('2026-05-01T16:00Z')
  beat('2026-05-01T16:00Z')
  clock.turn(1)
  await eventually(async () => (await scene.fires()).length === 1)
  expect(await scene.fires()).toEqual(['2026-05-01T15:00Z'])
})

test('[E-18] a clock that was set back moves the fire with it', async ({ scene }) => {
  const { clock, looks, beat, turnTo, takeOffice } = await leading(scene)
  await takeOffice()
  await turnTo('2026-05-01T11:00Z')
  beat('2026-05-01T11:00Z')
  const before = looks.mock.calls.length
  clock.turn(3.5 * 3_600_000)
  expect(looks).toHaveBeenCalledTimes(before)
  await turnTo('2026-05-01T15:00Z')
  clock.turn(0.5 * 3_600_000)
  await eventually(async () => (await scene.fires()).length === 1)
})

test('[E-18] [E-11] a lost wake-up is made up for: a look in ten minutes, in one where none arrive', async ({ scene }) => {
  const { clock, looks, office, beat } = await leading(scene)
  const seen = async (count: number) => {
    await eventually(() => looks.mock.calls.length >= count)
    // The look is over and its timer is set.
    await Promise.all(looks.mock.results.map(({ value }) => value as Promise<unknown>))
    await scene.database.pool.query('select 1')
    expect(looks).toHaveBeenCalledTimes(count)
  }
  beat('2026-05-01T12:00Z')
  await seen(1)
  clock.turn(599_000)
  beat('2026-05-01T12:09:59Z')
  await seen(1)
  clock.turn(1_000)
  beat('2026-05-01T12:10Z')
  await seen(2)
  office.hears = false
  clock.turn(60_000)
  beat('2026-05-01T12:11Z')
  await seen(3)
})

test('[E-19] one that lost its term waits for nothing and fires nothing', async ({ scene }) => {
  const { clock, scheduler, looks, office, beat, turnTo } = await leading(scene)
  await scheduler.runOnce()
  office.term = undefined
  beat('2026-05-01T12:00:05Z')
  await turnTo('2026-05-01T15:00Z')
  clock.turn(dayMs)
  scheduler.hear()
  expect(looks).toHaveBeenCalledTimes(1)
  expect(await scene.fires()).toEqual([])
})

test('[E-18] [E-27] a look that fails is repeated a second later', async ({ scene }) => {
  const { clock, scheduler, looks, turnTo } = await leading(scene)
  await turnTo('2026-05-01T15:00Z')
  looks.mockRejectedValueOnce(new Error('gone'))
  await scheduler.runOnce()
  expect(await scene.fires()).toEqual([])
  clock.turn(1_000)
  await eventually(async () => (await scene.fires()).length === 1)
})

test('[E-18] engines fire by the second, once each, whoever leads', async ({ engines, client }) => {
  const schedules = [defineSchedule('tick', { cron: '* * * * * *', job: report({}) })]
  const both = [1, 2].map(() => engines({ kinds: [report], schedules, lease: '2s' }))
  await Promise.all(both.map((engine) => engine.start()))
  const ended = async () => (await client.query<{ key: string }>('select key from sluice.job_ledger order by key')).rows
  await eventually(async () => (await ended()).length >= 2)
  await both.find((engine) => engine.status().leads)?.stop()
  const before = (await ended()).length
  await eventually(async () => (await ended()).length >= before + 2)
  const keys = (await ended()).map(({ key }) => key)
  expect(new Set(keys).size).toBe(keys.length)
})

test('[E-18] [E-12] a schedule whose key is in a stranger’s transaction keeps no other one from its time', async ({
  engines,
  client,
  database,
}) => {
  const keyed = defineKind('keyed', { dedupe: 'keep', run: () => {} })
  const engine = engines({
    kinds: [keyed, report],
    schedules: [
      defineSchedule('first', { cron: '* * * * * *', zone: 'UTC', job: keyed({}) }),
      defineSchedule('second', { cron: '* * * * * *', zone: 'UTC', job: report({}) }),
    ],
  })
  await engine.migrate()
  const stranger = new pg.Client(database.url)
  await stranger.connect()
  await stranger.query('begin')
  await engine.enqueue(keyed({}), { client: stranger })
  await engine.start()
  const fired = async (name: string): Promise<number> =>
    (await client.query('select fired::int from sluice.schedule where name = $1', [name])).rows[0].fired
  await eventually(async () => (await fired('second')) >= 4)
  expect(await fired('first')).toBe(0)
  await stranger.query('rollback')
  await stranger.end()
  await eventually(async () => (await fired('first')) > 0)
})

test('[E-18] [E-11] a schedule that another process or plain SQL stores wakes the leader', async ({ engines, client }) => {
  const [leader, other] = [engines({ kinds: [report], lease: '10m' }), engines({ kinds: [report], lead: false })]
  await leader.start()
  await eventually(() => leader.status().leads && leader.status().wakeUps === 'notifications')
  const fired = async (name: string) => ((await leader.schedules.show(name)).fired > 0 ? true : undefined)
  await other.schedules.set('theirs', { cron: '* * * * * *', job: report({}) })
  await eventually(() => fired('theirs'))
  await client.query(`insert into sluice.schedule (name, kind, cron) values ('by hand', 'report', '* * * * * *')`)
  await eventually(() => fired('by hand'))
  await other.schedules.pause('theirs')
  await leader.schedules.remove('by hand')
  await other.schedules.resume('theirs')
  const { fired: before } = await leader.schedules.show('theirs')
  await eventually(async () => (await leader.schedules.show('theirs')).fired > before)
})

test('[E-18] [E-11] an idle engine with a schedule far ahead sends heartbeats and nothing else', async ({ engines }) => {
  const schedules = [defineSchedule('yearly', { cron: '0 0 29 2 *', job: report({}) })]
  const engine = engines({ kinds: [report], schedules, lease: '1s' })
  await engine.start()
  await eventually(() => engine.status().leads && engine.status().wakeUps === 'notifications')
  await sendsBeatsOnly(vi.spyOn(Database.prototype, 'send'), vi.spyOn(Database.prototype, 'query'))
  vi.restoreAllMocks()
}, 90_000)
