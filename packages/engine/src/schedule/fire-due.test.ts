/** What the leader does about schedules that are due, on a real database whose clock is turned by hand. */
import { expect } from 'vitest'
import { serverWaits, withOnlooker } from '../../../../test/support/onlooker.ts'
import { type Scene, test } from '../../../../test/support/schedule-scene.ts'
import { defineKind } from '../job/kind.ts'

const report = defineKind('report', { run: () => {} })

/** Daily at 00:05 in Seoul, which is 15:05 the day before in UTC; stored on 1 May at noon, UTC. */
async function daily(scene: Scene, more: object = {}): Promise<void> {
  await scene.define([report])
  await scene.turnTo('2026-05-01T12:00Z')
  await scene.set('daily', {
    cron: '5 0 * * *',
    zone: 'Asia/Seoul',
    job: report({ of: 'yesterday' }, { owner: 'ann', priority: 7 }),
    ...more,
  })
}

test('[E-18] nothing before its time; at its time one job with its payload and options, and the next fire is stored', async ({
  scene,
  client,
}) => {
  await daily(scene)
  await scene.turnTo('2026-05-01T15:04:50Z')
  expect(await scene.fire()).toMatchObject({ fired: 0, nextMs: Date.parse('2026-05-01T15:05Z') })
  await scene.turnTo('2026-05-01T15:05Z')
  expect(await scene.fire()).toMatchObject({ fired: 1, nextMs: Date.parse('2026-05-02T15:05Z') })
  expect(await scene.fire()).toMatchObject({ fired: 0 })
  const { rows } = await client.query(
    'select kind, payload, owner, priority, sluice.state_of(shelf, worker) as state, key from sluice.job',
  )
  expect(rows).toEqual([
    {
      kind: 'report',
      payload: { of: 'yesterday' },
      owner: 'ann',
      priority: 7,
      state: 'ready',
      key: 'report/schedule/daily@2026-05-01T15:05:00.000000Z',
    },
  ])
  expect(await scene.show('daily')).toMatchObject({
    fired: 1,
    skipped: 0,
    error: null,
    lastAt: new Date('2026-05-01T15:05Z'),
    nextAt: new Date('2026-05-02T15:05Z'),
  })
})

test('[E-18] [E-19] two leaders that fire the same row at the same moment make one job', async ({
  scene,
  another,
  client,
  database,
}) => {
  await daily(scene)
  for (const one of [scene, another]) await one.turnTo('2026-05-01T15:05:10Z')
  const term = await scene.lead()
  // Both have looked and are about to fire when the row is let go.
  await client.query('begin')
  await client.query(`select from sluice.schedule for update`)
  const rounds = [scene.fireAs(term), another.fireAs(term)]
  await withOnlooker(database.url, (onlooker) => serverWaits(onlooker, 'sluice.fire_schedule', 2))
  await client.query('commit')
  const fired = (await Promise.all(rounds)).map((round) => round?.fired ?? -1)
  expect(fired.toSorted((a, b) => a - b)).toEqual([0, 1])
  expect(await scene.fires()).toEqual(['2026-05-01T15:05Z'])
})

test('[E-18] [E-19] a leader that slept fires nothing: its term is checked with the row', async ({ scene, another }) => {
  await daily(scene)
  for (const one of [scene, another]) await one.turnTo('2026-05-01T15:05:10Z')
  const old = await scene.lead()
  await another.lead()
  expect(await scene.fireAs(old)).toBeUndefined()
  // Even one that had looked before it fell asleep.
  const seen = await scene.show('daily')
  const { rows } = await scene.database.pool.query(
    `select outcome from sluice.fire_schedule($1, 'daily', $2, $3, array[$3::timestamptz], array[$3::timestamptz], 0, 'tomorrow', null)`,
    [old, seen.version, seen.nextAt],
  )
  expect(rows).toEqual([{ outcome: 'stale' }])
  expect(await scene.fires()).toEqual([])
  expect(await scene.show('daily')).toEqual(seen)
})

test('[E-18] a schedule that was changed since the leader looked is not fired by what it saw', async ({ scene }) => {
  await daily(scene)
  const seen = await scene.show('daily')
  await scene.set('daily', { cron: '5 0 * * *', zone: 'Asia/Seoul', job: report({ of: 'today' }) })
  await scene.turnTo('2026-05-01T15:05:10Z')
  const { rows } = await scene.database.pool.query(
    `select outcome from sluice.fire_schedule($1, 'daily', $2, $3, array[$3::timestamptz], array[$3::timestamptz], 0, 'tomorrow', null)`,
    [await scene.lead(), seen.version, seen.nextAt],
  )
  expect(rows).toEqual([{ outcome: 'stale' }])
})

test('[E-18] what breaks in the middle of a fire leaves nothing: no job, and the fire is still due', async ({
  scene,
  client,
}) => {
  await daily(scene)
  await client.query(`
    create function break_it() returns trigger language plpgsql as $$ begin raise exception 'broken' using errcode = '40001'; end $$;
    create trigger break_it after update on sluice.schedule for each row execute function break_it()`)
  await scene.turnTo('2026-05-01T15:05:10Z')
  const seen = await scene.show('daily')
  expect(await scene.fire()).toMatchObject({ fired: 0, again: true })
  expect(await scene.fires()).toEqual([])
  expect(await scene.show('daily')).toEqual(seen)
  await client.query('drop trigger break_it on sluice.schedule')
  expect(await scene.fire()).toMatchObject({ fired: 1, again: false })
  expect(await scene.fires()).toEqual(['2026-05-01T15:05Z'])
})

test('[E-18] rows that cannot be read keep their error and never stop the others', async ({ scene, client }) => {
  await daily(scene)
  await client.query(`
    insert into sluice.schedule (name, kind, cron, zone) values
      ('a', 'report', 'every noon', 'UTC'), ('b', 'report', '0 12 * * *', 'Mars/Olympus'), ('c', 'report', '0 0 30 2 *', 'UTC'), ('d', 'report', '0 12 * * *', 'UTC');
    update sluice.schedule set cron = 'nonsense', next_at = '2026-05-01 13:00Z' where name = 'a'`)
  await scene.turnTo('2026-05-01T15:05:10Z')
  expect(await scene.fire()).toMatchObject({ fired: 1, again: false })
  expect(await scene.fires()).toEqual(['2026-05-01T15:05Z'])
  const rows = await scene.schedules.list()
  expect(rows.map(({ name, nextAt, error }) => [name, nextAt?.toISOString() ?? null, error?.code ?? null])).toEqual([
    ['a', null, 'INVALID_CRON'],
    ['b', null, 'INVALID_ZONE'],
    ['c', null, 'INVALID_CRON'],
    ['d', '2026-05-02T12:00:00.000Z', null],
    ['daily', '2026-05-02T15:05:00.000Z', null],
  ])
  // Mended by hand, it goes on.
  await client.query(`update sluice.schedule set cron = '0 18 * * *' where name = 'a'`)
  await scene.fire()
  expect(await scene.show('a')).toMatchObject({ error: null, nextAt: new Date('2026-05-01T18:00Z') })
})

test('[E-18] a job that the database refuses is noted, and the schedule tries again at its next time', async ({
  scene,
  client,
}) => {
  await daily(scene)
  await client.query(`update sluice.setting set payload_bytes_max = 1`)
  await scene.turnTo('2026-05-01T15:05:10Z')
  expect(await scene.fire()).toMatchObject({ fired: 0, again: false })
  expect(await scene.show('daily')).toMatchObject({ error: { code: 'SL003' }, skipped: 1, nextAt: new Date('2026-05-02T15:05Z') })
  await client.query(`update sluice.setting set payload_bytes_max = 10000`)
  await scene.turnTo('2026-05-02T15:05:10Z')
  await scene.fire()
  expect(await scene.show('daily')).toMatchObject({ error: null, fired: 1 })
})

// The process was down from noon of 1 May until 4 May, 15:10. Missed: 1, 2 and 3 May; 4 May is five minutes late.
const may = (...days: number[]) => days.map((day) => `2026-05-0${day}T15:05Z`)
const downtime: [policy: object, expected: string[], skipped: number][] = [
  [{ catchUp: 'none' }, [], 4],
  [{ catchUp: 'none', deadline: '10m' }, may(4), 3],
  [{ catchUp: 'latest' }, may(4), 3],
  [{ catchUp: 'latest', deadline: '1m' }, [], 4],
  [{ catchUp: 'all' }, may(1, 2, 3, 4), 0],
  [{ catchUp: 'all', deadline: '2d' }, may(3, 4), 2],
  [{ catchUp: 'all', deadline: '1m' }, [], 4],
  [{ catchUp: 'all', overlap: 'forbid' }, may(4), 3],
  [{ catchUp: 'all', overlap: 'replace' }, may(4), 3],
]
test.for(downtime)('[E-18] after a downtime %j catches up with what it says', async ([policy, expected, skipped], { scene }) => {
  await daily(scene, policy)
  await scene.turnTo('2026-05-04T15:10Z')
  await scene.fire()
  expect(await scene.fires()).toEqual(expected)
  expect(await scene.show('daily')).toMatchObject({ fired: expected.length, skipped, nextAt: new Date('2026-05-05T15:05Z') })
})

test('[E-18] a change of leaders that takes seconds costs no fire, even with catch-up none', async ({ scene }) => {
  await daily(scene, { catchUp: 'none' })
  await scene.turnTo('2026-05-01T15:05:30Z')
  await scene.fire()
  expect(await scene.fires()).toEqual(may(1))
})

test('[E-18] a year of missed seconds is caught up with by the newest thousand', async ({ scene }) => {
  await scene.define([report])
  await scene.turnTo('2026-05-01T12:00Z')
  await scene.set('seconds', { cron: '* * * * * *', job: report({}), catchUp: 'all' })
  await scene.turnTo('2027-05-01T12:00Z')
  expect((await scene.fire())?.fired).toBeGreaterThanOrEqual(1_000)
  const { fired, lastAt, nextAt } = await scene.show('seconds')
  expect(fired).toBeLessThan(1_100)
  expect(lastAt?.toISOString()).toMatch(/^2027-05-01T12:00/)
  expect(nextAt?.toISOString()).toMatch(/^2027-05-01T12:00/)
})

test('[E-18] a clock set back fires nothing twice', async ({ scene }) => {
  await daily(scene)
  await scene.turnTo('2026-05-01T15:05:10Z')
  await scene.fire()
  await scene.turnTo('2026-05-01T14:00Z')
  expect(await scene.fire()).toMatchObject({ fired: 0 })
  await scene.turnTo('2026-05-01T15:05:10Z')
  expect(await scene.fire()).toMatchObject({ fired: 0 })
  await scene.turnTo('2026-05-02T15:05:10Z')
  await scene.fire()
  expect(await scene.fires()).toEqual(may(1, 2))
})

test('[E-18] jitter moves each job by an amount that its name and time decide', async ({ scene, client }) => {
  await daily(scene, { jitter: '10m' })
  await scene.set('other', { cron: '5 0 * * *', zone: 'Asia/Seoul', job: report({}), jitter: '10m' })
  for (const day of [1, 2, 3]) {
    await scene.turnTo(`2026-05-0${day}T15:05Z`)
    await scene.fire()
  }
  const { rows } = await client.query<{ late: number }>(`
    select extract(epoch from run_at - substring(key from '@(.*)$')::timestamptz)::float8 as late from sluice.job where shelf = 'scheduled' order by id`)
  expect(rows).toHaveLength(6)
  expect(new Set(rows.map(({ late }) => late)).size).toBe(6)
  for (const { late } of rows) expect(late > 0 && late < 600).toBe(true)
})
