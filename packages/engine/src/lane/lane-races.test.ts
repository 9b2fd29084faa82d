/** Races over lanes, forced with connections that hold their transaction open. */
import type pg from 'pg'
import { expect } from 'vitest'
import { eventually } from '../../../../test/support/database.ts'
import { type LaneScene, test, worker } from '../../../../test/support/lane-scene.ts'
import { serverWaits } from '../../../../test/support/onlooker.ts'
import { defineKind } from '../job/kind.ts'
import { done } from '../job/outcome.ts'

async function inTransaction(scene: LaneScene, act: (on: pg.Client) => Promise<unknown>): Promise<pg.Client> {
  const on = await scene.session()
  await on.query('begin')
  await act(on)
  return on
}

test('[E-12] settles in two lanes of an owner with a cap never wait for each other in a circle', async ({ scene }) => {
  await scene.changeOwner('ann', { cap: 2 })
  for (const lane of ['ann:a', 'ann:b']) await scene.enqueue(lane, 20, { owner: 'ann' })
  const errors: string[] = []
  const settleAndClaim = async (name: string) => {
    const on = await scene.session()
    for (let n = 0; n < 40; n++) {
      const mine = (await scene.claim(1, on)).jobs
      await scene.settle(mine, on).catch((error: pg.DatabaseError) => errors.push(`${name}: ${error.code}`))
    }
  }
  await Promise.all(['a', 'b', 'c', 'd'].map(settleAndClaim))
  expect(errors).toEqual([])
})

test('[E-12] changing an owner while its jobs end is no deadlock, and opens what waits', async ({ scene }) => {
  await scene.changeOwner('ann', { cap: 1 })
  await scene.enqueue('ann:a', 2, { owner: 'ann' })
  await scene.enqueue('ann:b', 2, { owner: 'ann' })
  const { jobs } = await scene.claim(10)
  expect(jobs).toHaveLength(1)
  await scene.claim(10) // parks both
  // The settle has its lane and waits for the owner; the change has the owner and waits for lanes.
  const holder = await inTransaction(scene, (on) => on.query(`select from sluice.owner where name = 'ann' for update`))
  const [settler, changer] = [await scene.session(), await scene.session()]
  const failed: unknown[] = []
  const settling = scene.settle(jobs, settler).catch((error: unknown) => failed.push(error))
  await serverWaits(scene.client, 'settle_done')
  const changing = scene.changeOwner('ann', { cap: 3 }, changer).catch((error: unknown) => failed.push(error))
  await serverWaits(scene.client, 'change_owner')
  await holder.query('commit')
  await Promise.all([settling, changing])
  expect(failed).toEqual([])
  expect((await scene.claim(10)).jobs).toHaveLength(3)
})

test('[E-12] a cap set for an owner while its last job ends strands no lane', async ({ scene }) => {
  await scene.enqueue('ann:a', 1, { owner: 'ann' })
  const { jobs } = await scene.claim(10)
  await scene.enqueue('ann:b', 1, { owner: 'ann' })
  // The settle has looked (there was no cap) and has not committed.
  const settler = await inTransaction(scene, (on) => scene.settle(jobs, on))
  const changing = scene.changeOwner('ann', { cap: 1 }, await scene.session())
  // Either the cap waits for the settle, or the settle's lane is not held against it.
  const outcome = await Promise.race([changing.then(() => 'set'), serverWaits(scene.client, 'change_owner').then(() => 'waits')])
  if (outcome === 'set') await scene.claim(10, await scene.session())
  await settler.query('commit')
  await changing
  expect((await scene.claim(10)).jobs).toHaveLength(1)
})

test.for([
  ['the careful way', 0],
  ['the short way', 16],
] as const)(
  '[E-12] a job that is changed between the look of a claim and its lock is neither lost nor counted twice: %s',
  async ([_way, ahead], { scene }) => {
    await scene.changeOwner('zed', { cap: null })
    await scene.enqueue('api', 1, { owner: 'zed' })
    await scene.enqueue('api', 1, { key: 'changing', mode: 'replace' })
    await scene.claim(0) // makes the lane
    // The owner of the first job is not that of the lane, so it is asked about; there the claim stands still, its look already taken.
    await scene.client.query(`
    create or replace function sluice.owner_closed(o sluice.owner, at timestamptz) returns boolean language plpgsql
    as $$ begin perform pg_advisory_xact_lock(7); return false; end $$`)
    await scene.client.query('select pg_advisory_lock(7)')
    const claiming = scene.claim(10, await scene.session(), 'light', ahead)
    await serverWaits(scene.client, 'claim_laned')
    await scene.client.query(
      `select sluice.enqueue('call', '{"new": true}', key => 'changing', mode => 'replace', lane => 'api')`,
    )
    await scene.client.query('select pg_advisory_unlock(7)')
    const first = (await claiming).jobs
    expect((await scene.lane('api')).in_flight).toBe(first.length)
    const jobs = [...first, ...(await scene.claim(10, scene.client, 'light', ahead)).jobs]
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(2)
    expect(jobs).toHaveLength(2)
    expect((await scene.lane('api')).in_flight).toBe(2)
    const { rows } = await scene.client.query(`select payload from sluice.job where payload <> '{}'`)
    expect(rows).toEqual([{ payload: { new: true } }])
    await scene.settle(jobs)
    expect((await scene.lane('api')).in_flight).toBe(0)
    expect((await scene.claim(10, scene.client, 'light', ahead)).jobs).toEqual([])
  },
)

test('[E-21] when the pause of an owner is acknowledged, no claim that began before can still start its jobs', async ({
  scene,
}) => {
  await scene.changeOwner('ann', { cap: null })
  await scene.enqueue('ann:a', 5, { owner: 'ann' })
  await scene.claim(0) // makes the lane
  const claimer = await inTransaction(scene, async (on) => expect((await scene.claim(1, on)).jobs).toHaveLength(1))
  const pausing = scene.changeOwner('ann', { paused: 'token revoked' }, await scene.session())
  await serverWaits(scene.client, 'change_owner')
  await claimer.query('commit')
  await pausing
  expect((await scene.claim(10)).jobs).toEqual([])
})

test('[E-12] [D-02] a lane that a dispatcher looks at for the first time while its owner is let go on is not left shut', async ({
  scene,
}) => {
  await scene.changeOwner('zed', { paused: 'later' })
  await scene.enqueue('api:zed', 1, { owner: 'zed' })
  const looking = await inTransaction(scene, (on) => on.query(`select * from sluice.lane_copies('{api:zed}')`))
  const resuming = scene.changeOwner('zed', { paused: null }, await scene.session())
  await serverWaits(scene.client, 'change_owner')
  await looking.query('commit')
  await resuming
  expect((await scene.claim(10)).jobs).toHaveLength(1)
})

test('[E-12] [D-02] a claim by id that meets an owner whose limits are just made leaves its lane as it is', async ({ scene }) => {
  await scene.enqueue('api:zed', 1, { owner: 'zed' })
  await scene.client.query(`select sluice.adopt_lanes('{api:zed}')`)
  const maker = await inTransaction(scene, (on) => scene.changeOwner('zed', { cap: 5 }, on))
  const { rows } = await scene.client.query('select id from sluice.job')
  const claiming = (await scene.session()).query(`select answer from sluice.claim_ids('light', ${worker}, $1, '{}')`, [
    [rows[0].id],
  ])
  await scene.client.query('select pg_sleep(0.02)') // it waits for 50 ms at the most
  await maker.query('commit')
  expect((await claiming).rows).toEqual([{ answer: expect.toBeOneOf([null, 'busy']) }])
  const { rows: parked } = await scene.client.query('select from sluice.turn where not open')
  expect(parked).toEqual([])
})

test('[E-12] lanes of an owner in somebody’s hand hide no others, however many turns they have', async ({ scene }) => {
  await scene.changeOwner('ann', { cap: 5 })
  for (let lane = 0; lane < 6; lane++) for (let n = 0; n < 20; n++) await scene.enqueue(`ann:${lane}`, 1, { owner: 'ann' })
  await scene.enqueue('other')
  const holder = await inTransaction(scene, (on) => on.query(`select from sluice.owner where name = 'ann' for update`))
  expect((await scene.claim(10)).jobs.map(({ lane }) => lane)).toEqual(['other'])
  await holder.query('rollback')
  expect((await scene.claim(10)).jobs).toHaveLength(5)
})

test('[E-12] a suspect of an owner with a cap waits for room like any other', async ({ scene }) => {
  await scene.changeOwner('ann', { cap: 1 })
  await scene.enqueue('ann:a', 1, { owner: 'ann' })
  const { jobs } = await scene.claim(10)
  await scene.enqueue('ann:b', 1, { owner: 'ann' })
  await scene.claim(10)
  await scene.client.query(`update sluice.job set crashes = 2 where lane = 'ann:b'`)
  await scene.client.query(`update sluice.worker set kinds = '{call}'`)
  const suspect = async () => (await scene.client.query(`select id from sluice.claim_suspect(${worker}, '{light}')`)).rows
  expect(await suspect()).toEqual([])
  await scene.settle(jobs)
  expect(await suspect()).toHaveLength(1)
})

test('[E-21] a suspect in a closed lane does not make busy processes stop for it', async ({ scene }) => {
  await scene.enqueue('api', 1)
  await scene.claim(0)
  await scene.client.query(`update sluice.job set crashes = 2`)
  await scene.client.query(`update sluice.worker set pools = '{"light": {}}', kinds = '{call}'`)
  const suspects = async () =>
    (await scene.client.query(`select suspects from sluice.beat(${worker}, 60000, '{light}', '{}', true, '{"light": 1}')`))
      .rows[0].suspects
  expect(await suspects()).toBe(true)
  await scene.change('api', { paused: 'later' })
  expect(await suspects()).toBe(false)
  await scene.change('api', { paused: null })
  expect(await suspects()).toBe(true)
})

test('[E-12] a stranger’s open transaction on a job of an owner holds up no claim of the open lane', async ({ scene }) => {
  await scene.enqueue(undefined, 1, { owner: 'ann' })
  await scene.enqueue(undefined, 1)
  await scene.changeOwner('ann', { cap: 5 })
  const stranger = await inTransaction(scene, (on) => on.query(`select from sluice.job where owner = 'ann' for update`))
  const on = await scene.session()
  await on.query(`set statement_timeout = '20s'`)
  expect(await scene.claimOpen(10, on)).toHaveLength(1)
  await stranger.query('rollback')
  await scene.claimOpen(10)
  expect((await scene.claim(10)).jobs).toHaveLength(1)
})

test('[E-21] all jobs without a lane of an owner that gets limits are found, however many there are', async ({ scene }) => {
  await scene.enqueue(undefined, 2_500, { owner: 'ann' })
  await scene.client.query('listen sluice')
  const heard: string[] = []
  scene.client.on('notification', ({ payload }) => heard.push(payload ?? ''))
  await scene.changeOwner('ann', { cap: 100 })
  // A worker looks again as often as it is told to.
  for (let looks = 1; looks > 0; looks--) {
    heard.length = 0
    await scene.claimOpen(10)
    await scene.client.query('select 1')
    if (heard.includes('ready:light')) looks++
  }
  const { rows } = await scene.client.query(`select count(*)::int as left from sluice.job where lane = ''`)
  expect(rows[0].left).toBe(0)
})

/** A clock that stands still until it is turned, so that windows of less than a second last as long as a test needs. */
async function standStill(scene: LaneScene) {
  const startMs = Date.now()
  const at = (ms: number): string => new Date(startMs + ms).toISOString()
  const turnTo = (ms: number): Promise<unknown> => scene.client.query(`select set_config('test.now', $1, false)`, [at(ms)])
  await scene.client.query(
    `create or replace function sluice.now() returns timestamptz language sql stable as $$ select current_setting('test.now')::timestamptz $$`,
  )
  await turnTo(0)
  return { at, turnTo }
}

test('[E-13] a late answer of the old window does not raise the budget when the window seems over', async ({ scene }) => {
  const { at, turnTo } = await standStill(scene)
  await scene.change('api', { metered: true, budget_floor: 0 })
  await scene.enqueue('api', 50)
  const probe = (await scene.claim(10)).jobs
  await scene.end(probe, 'done', { said: { remaining: 10, reset_at: at(600) } })
  const calls = (await scene.claim(10)).jobs
  expect(calls).toHaveLength(10)
  // All answers but one are here: nothing is left. The last one was sent first, when there were 9; it comes after our idea of the reset, which was early.
  await scene.end(calls.slice(1), 'done', { said: { remaining: 0, reset_at: at(600) } })
  const over = async () => (await scene.client.query(`select from sluice.lane where reset_at < sluice.now()`)).rowCount === 1
  await turnTo(601)
  expect(await over()).toBe(true)
  await scene.end(calls.slice(0, 1), 'done', { said: { remaining: 9, reset_at: at(1_200) } })
  // Until then it may still be the old window.
  expect((await scene.claim(10)).jobs).toEqual([])
  await turnTo(1_201)
  expect(await over()).toBe(true)
  await scene.client.query(`select sluice.open_lanes(1)`)
  expect((await scene.claim(10)).jobs).toHaveLength(1) // a probe
})

test('[E-13] the first answer of a new window, overtaken by others of it, does not count as all that is known', async ({
  scene,
}) => {
  const { at, turnTo } = await standStill(scene)
  await scene.change('api', { metered: true, budget_floor: 0 })
  await scene.enqueue('api', 50)
  await scene.end((await scene.claim(10)).jobs, 'done', { said: { remaining: 20, reset_at: at(400) } })
  const [slow, ...fast] = (await scene.claim(5)).jobs
  // They arrive when the server's new window of 60 has begun, the slow one first. The answers of the others come first, and speak of more than the old window had left.
  const soon = at(2_400)
  for (const [n, call] of fast.entries()) await scene.end([call], 'done', { said: { remaining: 58 - n, reset_at: soon } })
  await turnTo(401)
  expect((await scene.client.query(`select from sluice.lane where reset_at < sluice.now()`)).rowCount).toBe(1)
  expect((await scene.claim(10)).jobs).toEqual([]) // the window is over, and a call is under way
  await scene.end([slow!], 'done', { said: { remaining: 59, reset_at: soon } })
  const [probe, ...more] = (await scene.claim(10)).jobs
  expect(more).toEqual([])
  await scene.end([probe!], 'done', { said: { remaining: 54, reset_at: soon } })
  expect((await scene.lane('api')).remaining).toBe(54)
})

test('[E-13] a server whose clock is behind ours is not asked again and again at the end of its window', async ({ scene }) => {
  const { at } = await standStill(scene)
  await scene.change('api', { metered: true, budget_floor: 2 })
  await scene.enqueue('api', 50)
  const probe = (await scene.claim(10)).jobs
  await scene.end(probe, 'done', { said: { remaining: 2, reset_at: at(-1_500) } })
  expect((await scene.claim(10)).jobs).toEqual([])
  await scene.client.query(`update sluice.lane set reset_at = sluice.now() - interval '1 ms', opens_at = sluice.now()`)
  await scene.client.query(`select sluice.open_lanes(1)`)
  expect((await scene.claim(10)).jobs).toHaveLength(1)
})

test('[E-13] a call that was under way when its process stopped counts as spent; one never made is given back', async ({
  scene,
}) => {
  await scene.change('api', { metered: true, budget_floor: 0 })
  await scene.enqueue('api', 50)
  const reset = new Date(Date.now() + 60_000)
  await scene.end((await scene.claim(10)).jobs, 'done', { said: { remaining: 10, reset_at: reset } })
  const calls = (await scene.claim(4)).jobs
  await scene.end(calls.slice(0, 1), 'handed back', { refund: 0 })
  expect(await scene.lane('api')).toMatchObject({ remaining: 6, in_flight: 3 })
  await scene.end(calls.slice(1, 2), 'handed back', { refund: null })
  expect(await scene.lane('api')).toMatchObject({ remaining: 7, in_flight: 2 })
})

test('[E-12] a lane that was set up by hand before its first job belongs to its owner all the same', async ({ scene }) => {
  await scene.change('github:ann:core', { cap: 5 })
  await scene.enqueue('github:ann:core', 3, { owner: 'ann' })
  await scene.claim(1)
  expect(await scene.lane('github:ann:core')).toMatchObject({ owner: 'ann' })
})

test('[E-12] a child that has to wait for a stranger’s key holds up no lane', async ({ scene, engines }) => {
  const child = defineKind('child', { run: () => {} })
  const parent = defineKind('parent', { lane: 'api', run: () => done({ next: [child({}, { key: 'taken' })] }) })
  const other = defineKind('other', { lane: 'api', run: () => {} })
  const engine = engines({ kinds: [child, parent, other] })
  const stranger = await scene.session()
  await engine.migrate()
  await stranger.query('begin')
  await engine.enqueue(child({}, { key: 'taken' }), { client: stranger })
  await engine.enqueue(parent({}))
  await engine.start()
  await serverWaits(scene.client, 'enqueue')
  const { id } = await engine.enqueue(other({}))
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  await stranger.query('rollback')
  await eventually(async () => (await scene.client.query('select from sluice.job')).rowCount === 0)
})

test('[E-12] [E-21] an owner who goes on while a new lane of hers is being parked strands no job', async ({ scene }) => {
  await scene.changeOwner('ann', { paused: 'later' })
  await scene.enqueue('ann:new', 1, { owner: 'ann' })
  // The claim has made the lane and parked it, and nobody else sees either yet.
  const claimer = await inTransaction(scene, (on) => scene.claim(10, on))
  const resuming = scene.changeOwner('ann', { paused: null }, await scene.session())
  await serverWaits(scene.client, 'change_owner')
  await claimer.query('commit')
  await resuming
  expect((await scene.claim(10)).jobs).toHaveLength(1)
})

test('[E-12] [E-21] a claim leaves the new lanes of an owner alone whose pause is being lifted', async ({ scene }) => {
  await scene.changeOwner('ann', { paused: 'later' })
  await scene.enqueue('ann:new', 1, { owner: 'ann' })
  const resuming = await inTransaction(scene, (on) => scene.changeOwner('ann', { paused: null }, on))
  expect(await scene.claim(10)).toEqual({ again: true, jobs: [] })
  await resuming.query('commit')
  expect((await scene.claim(10)).jobs).toHaveLength(1)
})

test('[E-12] a claim for one slot writes to the lane it serves and leaves the others alone', async ({ scene }) => {
  const lanes = Array.from({ length: 16 }, (_, n) => `lane:${String(n).padStart(2, '0')}`)
  for (const lane of lanes) await scene.enqueue(lane, 3)
  const written = async (): Promise<Map<string, string>> => {
    const { rows } = await scene.client.query<{ key: string; at: string }>(
      `select l.key, l.ctid || ' ' || string_agg(t.id::text, ',') as at from sluice.lane l left join sluice.turn t on t.lane = l.key group by l.key, l.ctid`,
    )
    return new Map(rows.map(({ key, at }) => [key, at]))
  }
  const served: string[] = []
  // New ones go in the order in which they came.
  for (let n = 0; n < lanes.length; n++) served.push(...(await scene.claim(1)).jobs.map(({ lane }) => lane))
  expect(served).toEqual(lanes)
  for (let n = 0; n < lanes.length; n++) {
    const before = await written()
    const [job] = (await scene.claim(1)).jobs
    const after = await written()
    expect(job?.lane).toBe(lanes[n])
    expect([...after].filter(([key, at]) => before.get(key) !== at).map(([key]) => key)).toEqual([job?.lane])
  }
})
