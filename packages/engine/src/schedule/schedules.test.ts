/** What people do with schedules, and what processes do with them when they start. */
import { expect } from 'vitest'
import { z } from 'zod'
import { type Scene, test } from '../../../../test/support/schedule-scene.ts'
import { defineKind } from '../job/kind.ts'
import { defineSchedule } from './schedule.ts'

const report = defineKind('report', { payload: z.looseObject({}), run: () => {} })
const weekly = { cron: '0 9 * * 1', zone: 'Europe/Berlin', job: report({}) }

/** An hourly schedule on 1 May at noon, UTC, that is fired at one and then at two o'clock. */
async function twice(scene: Scene, overlap: 'allow' | 'forbid' | 'replace', between: () => Promise<unknown> = async () => {}) {
  await scene.define([report])
  await scene.turnTo('2026-05-01T12:00Z')
  await scene.set('hourly', { cron: '0 * * * *', job: report({}), overlap })
  await scene.turnTo('2026-05-01T13:00Z')
  await scene.fire()
  await between()
  await scene.turnTo('2026-05-01T14:00Z')
  await scene.fire()
  return (await scene.jobs()).map(({ state, fire }) => `${fire.slice(11, 16)} ${state}`)
}

test('[E-18] a weekly schedule fires once a week although its process starts anew every hour', async ({ scene }) => {
  await scene.define([report])
  // A Friday; Monday at nine in Berlin is seven o'clock UTC.
  for (let hour = 0; hour < 24 * 14; hour++) {
    await scene.turnTo(new Date(Date.UTC(2026, 4, 1, hour, 30)).toISOString())
    await scene.set('weekly', weekly)
    await scene.fire()
  }
  expect(await scene.fires()).toEqual(['2026-05-04T07:00Z', '2026-05-11T07:00Z'])
  expect(await scene.show('weekly')).toMatchObject({ fired: 2, skipped: 0, nextAt: new Date('2026-05-18T07:00Z') })
})

test('[E-18] an engine stores its schedules when it migrates; the same definition changes nothing', async ({
  engines,
  client,
}) => {
  const schedules = [defineSchedule('weekly', weekly)]
  const stored = async () => (await client.query('select xmin, s.* from sluice.schedule s')).rows
  await engines({ kinds: [report], schedules }).migrate()
  const before = await stored()
  expect(before).toHaveLength(1)
  await engines({ kinds: [report], schedules }).migrate()
  expect(await stored()).toEqual(before)
})

test('[E-18] another expression or zone has another next fire, another payload keeps it', async ({ scene }) => {
  await scene.define([report])
  await scene.turnTo('2026-05-01T12:00Z')
  const next = async (more: object) => {
    await scene.set('weekly', { ...weekly, ...more })
    return (await scene.show('weekly')).nextAt?.toISOString()
  }
  expect(await next({})).toBe('2026-05-04T07:00:00.000Z')
  expect(await next({ job: report({ n: 1 }), jitter: '1m' })).toBe('2026-05-04T07:00:00.000Z')
  expect(await next({ zone: 'Asia/Seoul' })).toBe('2026-05-04T00:00:00.000Z')
  expect(await next({ cron: '0 9 * * 2', zone: 'Asia/Seoul' })).toBe('2026-05-05T00:00:00.000Z')
})

test('[E-18] a fire that was missed is still made up for when the process comes back with another payload', async ({ scene }) => {
  await scene.define([report])
  await scene.turnTo('2026-05-01T12:00Z')
  await scene.set('weekly', weekly)
  await scene.turnTo('2026-05-04T08:00Z')
  await scene.set('weekly', { ...weekly, job: report({ n: 1 }) })
  await scene.fire()
  expect(await scene.fires()).toEqual(['2026-05-04T07:00Z'])
})

test('[E-18] overlap allow fires whatever became of the last job', async ({ scene }) => {
  expect(await twice(scene, 'allow')).toEqual(['13:00 ready', '14:00 ready'])
})

test('[E-18] overlap forbid skips a fire while the last job is live', async ({ scene }) => {
  expect(await twice(scene, 'forbid')).toEqual(['13:00 ready'])
  expect(await scene.show('hourly')).toMatchObject({ fired: 1, skipped: 1, nextAt: new Date('2026-05-01T15:00Z') })
})

test.for(['running', 'scheduled', 'paused'])('[E-18] a job that is %s is live', async (state, { scene, client }) => {
  const [shelf, worker] = state === 'running' ? [null, 1] : [state, null]
  const hold = () => client.query(`update sluice.job set shelf = $1, worker = $2, run_at = 'tomorrow'`, [shelf, worker])
  expect(await twice(scene, 'forbid', hold)).toEqual([`13:00 ${state}`])
})

test('[E-18] overlap forbid fires when the last job has ended, or failed for good', async ({ scene, client }) => {
  const fail = () => client.query(`update sluice.job set shelf = 'failed'`)
  expect(await twice(scene, 'forbid', fail)).toEqual(['13:00 failed', '14:00 ready'])
})

test('[E-18] overlap replace cancels the live job, then fires', async ({ scene }) => {
  expect(await twice(scene, 'replace')).toEqual(['13:00 canceled', '14:00 ready'])
})

test('[E-18] overlap replace asks a job that runs to stop', async ({ scene, client }) => {
  const run = () => client.query(`update sluice.job set worker = 1`)
  expect(await twice(scene, 'replace', run)).toEqual(['13:00 running', '14:00 ready'])
  const { rows } = await client.query(
    `select cancel_at is not null as asked, error->>'message' as why from sluice.job order by id`,
  )
  expect(rows).toEqual([
    { asked: true, why: 'replaced by the next job of schedule hourly' },
    { asked: false, why: null },
  ])
})

test('[E-18] [E-05] while the first job is slow to stop, each fire replaces the one that waits for its end: none is lost', async ({
  scene,
  client,
}) => {
  const sync = defineKind('sync', { dedupe: 'keep', run: () => {} })
  await scene.define([sync])
  await scene.turnTo('2026-05-01T12:00Z')
  await scene.set('hourly', { cron: '0 * * * *', job: sync({}), overlap: 'replace' })
  await scene.turnTo('2026-05-01T13:00Z')
  await scene.fire()
  await client.query(`update sluice.job set worker = 1`)
  for (const hour of [14, 15, 16]) {
    await scene.turnTo(`2026-05-01T${hour}:00Z`)
    await scene.fire()
    const { rows } = await client.query(
      `select sluice.state_of(shelf, worker) as state, after_key is not null as waits from sluice.job order by id`,
    )
    expect(rows).toEqual([
      { state: 'running', waits: false },
      { state: 'scheduled', waits: true },
    ])
  }
})

test('[E-18] where a kind dedupes by key, the job that replaces a running one waits for its end', async ({ scene, client }) => {
  const sync = defineKind('sync', {
    payload: z.object({ tenant: z.string() }),
    dedupe: 'keep',
    key: ({ tenant }) => tenant,
    run: () => {},
  })
  await scene.define([sync])
  await scene.turnTo('2026-05-01T12:00Z')
  await scene.set('hourly', { cron: '0 * * * *', job: sync({ tenant: 'ann' }), overlap: 'replace' })
  await scene.turnTo('2026-05-01T13:00Z')
  await scene.fire()
  await client.query(`update sluice.job set worker = 1`)
  await scene.turnTo('2026-05-01T14:00Z')
  await scene.fire()
  const { rows } = await client.query(
    'select key, after_key, sluice.state_of(shelf, worker) as state from sluice.job order by id',
  )
  expect(rows).toEqual([
    { key: 'sync/ann', after_key: null, state: 'running' },
    { key: null, after_key: 'sync/ann', state: 'scheduled' },
  ])
})

test('[E-18] a paused schedule does not fire; resumed, it goes on with the next fire from then', async ({ scene }) => {
  await scene.define([report])
  await scene.turnTo('2026-05-01T12:00Z')
  await scene.set('hourly', { cron: '0 * * * *', job: report({}), catchUp: 'all' })
  await scene.schedules.pause('hourly', 'the printer is broken')
  await scene.turnTo('2026-05-01T14:30Z')
  expect(await scene.fire()).toMatchObject({ fired: 0, nextMs: undefined })
  expect(await scene.show('hourly')).toMatchObject({ pausedReason: 'the printer is broken', nextFires: [] })
  expect(await scene.schedules.resume('hourly')).toBe(true)
  expect(await scene.schedules.resume('hourly')).toBe(false)
  await scene.turnTo('2026-05-01T15:00Z')
  await scene.fire()
  expect(await scene.fires()).toEqual(['2026-05-01T15:00Z'])
})

test('[E-18] a start of the process does not end a pause', async ({ scene }) => {
  await scene.define([report])
  await scene.set('weekly', weekly)
  await scene.schedules.pause('weekly')
  await scene.set('weekly', { ...weekly, cron: '0 10 * * 1' })
  expect((await scene.show('weekly')).pausedAt).not.toBeNull()
})

test('[E-18] run now makes a job at once, paused or not, and leaves the next fire where it is', async ({ scene }) => {
  await scene.define([report])
  await scene.turnTo('2026-05-01T12:00Z')
  await scene.set('weekly', { ...weekly, overlap: 'forbid' })
  const { nextAt } = await scene.show('weekly')
  await scene.schedules.pause('weekly')
  const first = await scene.schedules.runNow('weekly')
  expect(first.created).toBe(true)
  expect(await scene.schedules.runNow('weekly')).toEqual({ id: first.id, created: false })
  expect(await scene.jobs()).toMatchObject([{ id: first.id, state: 'ready' }])
  expect(await scene.show('weekly')).toMatchObject({ nextAt, fired: 1, lastJob: first.id })
})

test('[E-18] show has the next fires, list has them all, remove takes one away', async ({ scene }) => {
  await scene.define([report])
  await scene.turnTo('2026-03-28T12:00Z')
  await scene.set('b', { cron: '30 2 * * *', zone: 'Europe/Berlin', job: report({}) })
  await scene.set('a', weekly)
  expect((await scene.schedules.show('b', { fires: 3 })).nextFires.map((at) => at.toISOString())).toEqual([
    '2026-03-29T01:00:00.000Z',
    '2026-03-30T00:30:00.000Z',
    '2026-03-31T00:30:00.000Z',
  ])
  expect((await scene.schedules.list()).map(({ name }) => name)).toEqual(['a', 'b'])
  expect([await scene.schedules.remove('a'), await scene.schedules.remove('a')]).toEqual([true, false])
  for (const act of ['show', 'pause', 'resume', 'runNow'] as const)
    await expect(scene.schedules[act]('a'), act).rejects.toMatchObject({ code: 'UNKNOWN_SCHEDULE' })
})

test('[E-18] what cannot be right is refused at the door, and nothing is stored', async ({ scene, engines }) => {
  await scene.define([report])
  const job = report({})
  const wrong: [definition: object, code: string][] = [
    [{ cron: '61 * * * *', job }, 'INVALID_CRON'],
    [{ cron: '0 0 30 2 *', job }, 'INVALID_CRON'],
    [{ cron: '* * * * *', zone: 'Mars/Olympus', job }, 'INVALID_ZONE'],
    [{ cron: '* * * * *', job: { kind: 'stranger', payload: {} } }, 'UNKNOWN_KIND'],
    [{ cron: '* * * * *', job: report({ text: 'x'.repeat(20_000) }) }, 'PAYLOAD_TOO_LARGE'],
    [{ cron: '* * * * *', job: report({}, { delay: '1h' }) }, 'INVALID_OPTION'],
    [{ cron: '* * * * *', job: report({}, { priority: 1_001 }) }, 'INVALID_OPTION'],
    [{ cron: '* * * * *', job: report }, 'INVALID_OPTION'],
    [{ cron: '* * * * *', job, overlap: 'maybe' }, 'INVALID_OPTION'],
    [{ cron: '* * * * *', job, deadline: 0 }, 'INVALID_OPTION'],
    [{ cron: '* * * * *', job, jitter: '2d' }, 'INVALID_OPTION'],
    [{ cron: '* * * * *', job, timezone: 'UTC' }, 'INVALID_OPTION'],
  ]
  for (const [definition, code] of wrong)
    await expect(scene.set('wrong', definition as never), JSON.stringify(definition)).rejects.toMatchObject({ code })
  await expect(scene.set('no name', weekly)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  await expect(scene.schedules.show('wrong', { fires: -1 })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  const same = [defineSchedule('a', weekly), defineSchedule('a', weekly)]
  expect(() => engines({ schedules: same })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  expect(() => engines({ schedules: [weekly] as never })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  expect(await scene.schedules.list()).toEqual([])
})
