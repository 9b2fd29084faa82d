/**
 * Claims from lanes, and what closes and opens lanes, go straight to their rows whatever the planner believes, and a lane with a million jobs
 * costs no more than one with ten. Plans are those really used inside the functions.
 */
import pg from 'pg'
import { expect } from 'vitest'
import { Explainer, type Node, nodes, show } from '../support/explainer.ts'
import { test as base, worker } from '../support/lane-scene.ts'

const tables = ['job', 'turn', 'lane', 'owner']
const slots = 100
const jobs = 1_000_000
const lanes = 1_000

const test = base.extend<{ explainer: Explainer }>({
  explainer: async ({ database, scene }, use) => {
    for (const table of ['job', 'turn', 'lane'])
      await scene.client.query(`alter table sluice.${table} set (autovacuum_enabled = off)`)
    await scene.client.query('set synchronous_commit = off')
    const session = new pg.Client(database.url)
    await session.connect()
    const explainer = new Explainer(session)
    await explainer.open()
    await use(explainer)
    await session.end()
  },
})

/** So many jobs, spread over lanes; each lane has a turn and twenty jobs that run. */
async function fill(client: pg.Client, jobs: number, lanes: number): Promise<void> {
  await client.query(
    `insert into sluice.lane (key, owner) select 'lane:' || n, case when n % 2 = 0 then 'ann' end from generate_series(1, ${lanes}) n`,
  )
  await client.query(
    `insert into sluice.job (kind, pool, lane, owner, rank, payload, max_attempts, created_at, worker, fence)
     select 'call', 'light', 'lane:' || 1 + n % ${lanes}, null, n, '{}', 5, now(),
            case when n <= ${lanes} * 20 then ${worker} end, 7
     from generate_series(1, ${jobs}) n`,
  )
  await client.query(
    `insert into sluice.turn (pool, lane, low, served_at) select 'light', key, ${lanes} * 20, '-infinity' from sluice.lane`,
  )
  await client.query('update sluice.lane set in_flight = 20, in_flight_cost = 20')
}

/** How many rows of each table a statement may look at. Sixteen lanes at a time, and a few looks at each. */
const most = { job: 5 * slots, turn: 200, lane: 400, owner: 100 }

function complaints(plan: Node): string[] {
  const seen: Record<string, number> = {}
  for (const node of nodes(plan)) {
    const table = node['Relation Name'] ?? ''
    seen[table] = (seen[table] ?? 0) + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  }
  return [
    ...nodes(plan).flatMap((node) =>
      node['Node Type'] === 'Seq Scan' && tables.includes(node['Relation Name'] ?? '') ? ['walks over the whole table'] : [],
    ),
    ...Object.entries(most).flatMap(([table, rows]) =>
      (seen[table] ?? 0) > rows ? [`looks at ${seen[table]} rows of ${table}`] : [],
    ),
    ...((plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0) > 20_000 ? ['reads far too many blocks'] : []),
  ]
}

async function check(explainer: Explainer, client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `select id from sluice.job where worker is not null order by id limit ${slots}`,
  )
  const ids = rows.length > 0 ? rows.map(({ id }) => Number(id)) : [1, 2, 3]
  const calls: [name: string, text: string, values: unknown[]][] = [
    ['claim', `select id from sluice.claim_laned('light', ${worker}, $1, 0, 16, '{}')`, [slots]],
    ['claim ahead', `select id from sluice.claim_laned('light', ${worker}, 1, $1, 16, '{}')`, [slots]],
    ['settle', 'select sluice.settle_done($1::bigint[], $2::bigint[], true)', [ids, ids.map(() => 7)]],
    [
      'leave',
      `select sluice.leave_lanes(array[row('lane:1', 0, 0, 0, 0, 0)::sluice.lane_change], $1)`,
      [JSON.stringify([{ lane: 'lane:1', remaining: 5 }])],
    ],
    ['pause', 'select sluice.change_lane($1, $2)', ['lane:1', '{"paused": "later"}']],
    ['adopt', 'select sluice.adopt_lanes($1)', [['new:lane']]],
    ['open', 'select sluice.open_lanes($1)', [1]],
  ]
  for (const [name, text, values] of calls) {
    const { plans } = await explainer.explain(`test_${name}`, text, values, [], tables)
    expect(plans.length, `${name} touched nothing`).toBeGreaterThan(0)
    for (const { text, plan } of plans) expect(complaints(plan), `${name}: ${text}\n${show(plan)}`).toEqual([])
  }
}

test('[E-12] claims and settles of lanes go straight to their rows with a million jobs in a thousand lanes', async ({
  scene,
  explainer,
}) => {
  // Prepared while the tables are empty, then filled without statistics, then analyzed.
  await check(explainer, scene.client)
  for (const table of ['job', 'turn', 'lane']) await scene.client.query(`analyze sluice.${table}`)
  await fill(scene.client, jobs, lanes)
  await check(explainer, scene.client)
  for (const table of ['job', 'turn', 'lane']) await scene.client.query(`analyze sluice.${table}`)
  await check(explainer, scene.client)
})

test('[E-12] [E-21] a lane with a million jobs closes, opens, pauses and gets a budget without a job being touched', async ({
  scene,
  explainer,
}) => {
  await scene.changeOwner('ann', { cap: 50 })
  await fill(scene.client, jobs, 1)
  await scene.client.query(`update sluice.lane set owner = 'ann'`)
  const filler = (await scene.client.query<{ xmin: string }>('select xmin::text from sluice.job limit 1')).rows[0]!.xmin
  const touched = async (): Promise<unknown> =>
    (
      await scene.client.query(
        `select count(*)::int as jobs, count(*) filter (where xmin <> $1::xid)::int as touched from sluice.job`,
        [filler],
      )
    ).rows[0]
  const deeds: [what: string, text: string, values: unknown[]][] = [
    ['pause', 'select sluice.change_lane($1, $2)', ['lane:1', '{"paused": "later"}']],
    ['park', `select id from sluice.claim_laned('light', ${worker}, 10, 0, 16, '{}')`, []],
    ['resume', 'select sluice.change_lane($1, $2)', ['lane:1', '{"paused": null}']],
    ['pause the owner', 'select sluice.change_owner($1, $2)', ['ann', '{"paused": "revoked"}']],
    ['park again', `select id from sluice.claim_laned('light', ${worker}, 10, 0, 16, '{}')`, []],
    ['resume the owner', 'select sluice.change_owner($1, $2)', ['ann', '{"paused": null}']],
    ['hold', 'select sluice.change_lane($1, $2)', ['lane:1', JSON.stringify({ hold_until: new Date(Date.now() + 60_000) })]],
    ['cap', 'select sluice.change_lane($1, $2)', ['lane:1', '{"cap": 20, "hold_until": null}']],
    ['park for the cap', `select id from sluice.claim_laned('light', ${worker}, 10, 0, 16, '{}')`, []],
  ]
  for (const [what, text, values] of deeds) {
    // Looked at in a transaction that is undone, then done.
    const { plans } = await explainer.explain(`test_${what}`, text, values, [], tables)
    for (const { text, plan } of plans) expect(complaints(plan), `${what}: ${text}\n${show(plan)}`).toEqual([])
    await scene.client.query(text, values)
    expect(await touched(), what).toEqual({ jobs, touched: 0 })
  }
  expect(await scene.lane('lane:1')).toMatchObject({ shut: true, in_flight: 20 })
})
