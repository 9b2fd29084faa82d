/** Claims by id: what a stale dispatcher hands in is judged by the same rules and under the same locks as every other claim. */
import { expect } from 'vitest'
import { type LaneScene, test, worker } from '../../../../../test/support/lane-scene.ts'

interface Row {
  readonly id: number
  readonly answer: string | null
  readonly wait_ms: number | null
  readonly fence: number
}

async function claim(
  scene: LaneScene,
  ids: readonly number[],
  { on = scene.client, unknown = [] as string[] } = {},
): Promise<Row[]> {
  const { rows } = await on.query(
    `select id::int, answer, wait_ms, fence from sluice.claim_ids('light', ${worker}, $1::bigint[], $2) order by id`,
    [ids, unknown],
  )
  return rows as Row[]
}

const answers = (rows: readonly Row[]): (string | null)[] => rows.map(({ answer }) => answer)

async function add(scene: LaneScene, count = 1, fields: object = {}): Promise<number[]> {
  const jobs = Array.from({ length: count }, () => ({ kind: 'call', payload: {}, ...fields }))
  const { rows } = await scene.client.query('select ids from sluice.enqueue_many($1, false)', [JSON.stringify(jobs)])
  return (rows[0].ids as string[]).map(Number)
}

test('[D-02] a ready job is claimed once, under a new fence; the second to come is told that it runs', async ({ scene }) => {
  const [id = 0] = await add(scene)
  const [first] = await claim(scene, [id])
  expect(first).toMatchObject({ id, answer: null })
  expect(answers(await claim(scene, [id]))).toEqual(['running'])
  expect(Number(first?.fence)).toBeGreaterThan(0)
})

test('[D-02] ids without a live job, of another pool, failed or told twice are answered and harm nobody', async ({ scene }) => {
  const [ready = 0] = await add(scene)
  const [elsewhere = 0] = await add(scene, 1, { pool: 'heavy' })
  expect(await claim(scene, [ready, ready, 999_999, elsewhere])).toMatchObject([
    { id: ready, answer: null },
    { id: elsewhere, answer: 'gone' },
    { id: 999_999, answer: 'gone' },
  ])
})

test('[D-05] a job that falls due later is not started early; one whose time has come is, though nobody has made it ready', async ({
  scene,
}) => {
  const [later = 0] = await add(scene, 1, { delay_ms: 60_000 })
  const [due = 0] = await add(scene, 1, { delay_ms: 1 })
  await scene.client.query(`update sluice.job set run_at = now() - interval '1 s' where id = $1`, [due])
  const rows = await claim(scene, [later, due])
  expect(answers(rows)).toEqual(['early', null])
  expect(rows[0]?.wait_ms).toBeGreaterThan(50_000)
})

test('[E-21] what is paused by kind, pool, lane or owner is not started by its id', async ({ scene }) => {
  const [id = 0] = await add(scene, 1, { lane: 'a:ann', owner: 'ann' })
  const stays = async (answer: string): Promise<void> => expect(answers(await claim(scene, [id]))).toEqual([answer])
  await scene.client.query(`insert into sluice.pause (scope, name) values ('kind', 'call')`)
  await stays('paused')
  await scene.client.query(`delete from sluice.pause`)
  await scene.client.query(`insert into sluice.pause (scope, name) values ('pool', 'light')`)
  await stays('paused')
  await scene.client.query(`delete from sluice.pause`)
  await scene.change('a:ann', { paused: 'no' })
  await stays('lane')
  await scene.change('a:ann', { paused: null })
  await scene.changeOwner('ann', { paused: 'no' })
  await stays('lane')
  await scene.changeOwner('ann', { paused: null })
  expect(answers(await claim(scene, [id]))).toEqual([null])
})

test('[E-21] a job of the open lane whose owner has limits is moved to its lane and not started', async ({ scene }) => {
  const [id = 0] = await add(scene, 1, { owner: 'bob' })
  await scene.changeOwner('bob', { paused: 'no' })
  expect(answers(await claim(scene, [id]))).toEqual(['lane'])
  expect((await scene.client.query('select lane from sluice.job where id = $1', [id])).rows).toEqual([{ lane: 'owner:bob' }])
})

test('[D-03] [E-12] permits and places are counted as by every other claim, and the lane closes when they are gone', async ({
  scene,
}) => {
  await scene.change('m', { metered: true, budget_floor: 1 })
  await scene.client.query(`update sluice.lane set remaining = 4, reset_at = now() + interval '1 h' where key = 'm'`)
  const ids = await add(scene, 5, { lane: 'm' })
  expect(answers(await claim(scene, ids))).toEqual([null, null, null, 'lane', 'lane'])
  expect(await scene.lane('m')).toMatchObject({ remaining: 1, in_flight: 3, shut: true })
  expect(answers(await claim(scene, ids.slice(3)))).toEqual(['lane', 'lane'])
  expect((await scene.client.query(`select open from sluice.turn where lane = 'm'`)).rows).toEqual([{ open: false }])
})

test('[D-03] a cap of the owner spans its lanes', async ({ scene }) => {
  await scene.changeOwner('eve', { cap: 3 })
  const ids = [
    ...(await add(scene, 3, { lane: 'x:eve', owner: 'eve' })),
    ...(await add(scene, 3, { lane: 'y:eve', owner: 'eve' })),
  ]
  expect(answers(await claim(scene, ids)).filter((answer) => answer === null)).toHaveLength(3)
})

test('[E-12] claims by id and claims in order share a lane: whoever frees it opens it for both', async ({ scene }) => {
  await scene.change('c', { cap: 1 })
  const [one = 0, two = 0] = await add(scene, 2, { lane: 'c' })
  const [held] = await claim(scene, [one])
  expect(answers(await claim(scene, [two]))).toEqual(['lane'])
  expect((await scene.claim(5)).jobs).toEqual([])
  await scene.settle([{ id: one, fence: held?.fence as number, lane: 'c', priority: 0 }])
  expect((await scene.claim(5)).jobs.map(({ id }) => id)).toEqual([two])
})

test('[D-03] two that claim from one lane at the same moment never get more than there is', async ({ scene }) => {
  await scene.change('r', { metered: true })
  await scene.client.query(`update sluice.lane set remaining = 10, reset_at = now() + interval '1 h' where key = 'r'`)
  const ids = await add(scene, 40, { lane: 'r' })
  const sessions = await Promise.all([0, 1, 2, 3].map(() => scene.session()))
  const rows = (
    await Promise.all(
      sessions.map((on, at) =>
        claim(
          scene,
          ids.filter((_, place) => place % 4 === at),
          { on },
        ),
      ),
    )
  ).flat()
  expect(rows.filter(({ answer }) => answer === null)).toHaveLength(10)
  expect(await scene.lane('r')).toMatchObject({ remaining: 0, in_flight: 10 })
})

test('[E-08] a suspect and an unknown kind are not started, and say so', async ({ scene }) => {
  const [suspect = 0, strange = 0] = await add(scene, 2)
  await scene.client.query('update sluice.job set crashes = 2 where id = $1', [suspect])
  expect(answers(await claim(scene, [suspect, strange], { unknown: ['call'] }))).toEqual(['suspect', 'unknown'])
})

test('[E-07] a process that was declared dead claims nothing', async ({ scene }) => {
  const [id = 0] = await add(scene)
  await scene.client.query(`delete from sluice.worker where id = ${worker}`)
  expect(await claim(scene, [id])).toEqual([])
})
