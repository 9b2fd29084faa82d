/**
 * Plans do not depend on statistics. A queue's table is empty when it is analyzed and full a minute later, so claim, settle and upkeep must
 * run by the same plan whatever the planner believes: no walk over the whole table, no loop over the batch, and no more rows looked at than
 * are taken. Plans are those really used inside the functions, as auto_explain reports them to the session.
 */
import pg from 'pg'
import { describe, expect } from 'vitest'
import { test as base } from '../support/database.ts'
import { Explainer, type Node, nodes, show } from '../support/explainer.ts'

const slots = 100
const worker = 1

interface Fixtures {
  /** Sessions that are closed when the test ends. */
  session: () => Promise<pg.Client>
  /** On a database with a kind, a worker that leads, and no autovacuum that would analyze unasked. */
  explainer: Explainer
}

const test = base.extend<Fixtures>({
  session: async ({ database }, use) => {
    const opened: pg.Client[] = []
    await use(async () => {
      const one = new pg.Client(database.url)
      opened.push(one)
      await one.connect()
      return one
    })
    await Promise.all(opened.map((one) => one.end()))
  },
  explainer: async ({ client, session }, use) => {
    await client.query(`insert into sluice.kind (name) values ('note')`)
    await client.query(`insert into sluice.worker (id, name, lease_until) values (${worker}, 'me', now() + interval '1 h')`)
    await client.query(`update sluice.leader set term = 1, worker = ${worker}, until = now() + interval '1 h'`)
    await client.query('alter table sluice.job set (autovacuum_enabled = off)')
    await client.query('set synchronous_commit = off')
    const explainer = new Explainer(await session())
    await explainer.open()
    await use(explainer)
  },
})

const statements = {
  claim: (slots: number): [string, unknown[]] => [
    'select id, fence from sluice.claim($1, $2, $3, $4, $5)',
    ['light', worker, slots, Number.MIN_SAFE_INTEGER, ['strange']],
  ],
  done: (ids: number[]): [string, unknown[]] => [
    'select sluice.settle_done($1::bigint[], $2::bigint[], $3)',
    [ids, ids.map(() => 7), true],
  ],
  settle: (ids: number[]): [string, unknown[]] => [
    'select sluice.settle($1, $2::bigint[], $3::bigint[], $4::text[], $5::float8[], $6::timestamptz[], $7::jsonb[], $8::int[], null, true)',
    [
      worker,
      ids,
      ids.map(() => 7),
      ids.map((_, n) => ['done', 'retry', 'snooze', 'failed', 'canceled', 'handed back'][n % 6]),
      ids.map(() => 1_000),
      ids.map(() => null),
      ids.map(() => null),
      ids.map(() => 0),
    ],
  ],
  beat: (): [string, unknown[]] => [
    'select * from sluice.beat($1, $2, $3, $4, $5, $6)',
    [worker, 60_000, ['light'], ['strange'], true, '{}'],
  ],
  promote: (): [string, unknown[]] => ['select * from sluice.promote($1, $2)', [1, 500]],
}

type Counts = Partial<Record<'running' | 'ready' | 'laned' | 'scheduled' | 'failed' | 'parcels' | 'strange', number>>
const parcelSize = 64

/** Fills the table: so many jobs in each state, ready ones in closed lanes, and so many parcels of ready ones, before them those of a kind that is not known here. */
async function fill(client: pg.Client, { strange = 0, parcels = 0, laned = 0, ...counts }: Counts): Promise<void> {
  await client.query(`
    insert into sluice.job (kind, pool, lane, rank, payload, max_attempts, created_at)
    select 'note', 'light', 'lane ' || n % 1000, n, '{}', 5, now() from generate_series(1, ${laned}) n`)
  await client.query(
    `insert into sluice.turn (pool, lane, open, low, served_at) select distinct 'light', lane, false, 0, now() from sluice.job where lane <> ''`,
  )
  await client.query(`
    insert into sluice.job (kind, pool, rank, payload, max_attempts, created_at, parcel)
    select case when n < ${strange * parcelSize} then 'strange' else 'note' end, 'light', n / ${parcelSize}, '{}', 5, now(), 1000000 + n / ${parcelSize}
    from generate_series(0, ${(strange + parcels) * parcelSize - 1}) n`)
  await client.query(`
    insert into sluice.parcel (id, pool, kind, rank, first, next, last)
    select parcel, 'light', kind, min(rank), min(id), min(id), max(id) from sluice.job where parcel is not null group by parcel, kind`)
  for (const [state, count] of Object.entries(counts))
    await client.query(
      `insert into sluice.job (kind, pool, shelf, rank, payload, max_attempts, created_at, worker, fence, run_at, attempt, started_at)
       select 'note', 'light', nullif(nullif('${state}', 'ready'), 'running')::sluice.job_state, n, '{}', 5, now(), ${state === 'running' ? worker : 'null'}, 7,
              ${state === 'scheduled' ? `now() + n * interval '1 s'` : 'null'}, 1, now()
       from generate_series(1, ${count}) n`,
    )
}

const scenes: [name: string, counts: Counts][] = [
  ['the table empty', {}],
  ['a few jobs', { running: 3, ready: 3, scheduled: 3, failed: 3 }],
  ['all jobs ready', { ready: 20_000 }],
  ['all jobs in parcels', { parcels: 300 }],
  ['parcels of a kind that is not known here before all others', { strange: 200, parcels: 100 }],
  ['jobs in parcels and beside them', { parcels: 100, ready: 5_000, running: 50 }],
  ['all jobs in closed lanes', { laned: 20_000 }],
  ['all jobs running', { running: 20_000 }],
  ['all jobs in the future', { scheduled: 20_000 }],
  ['1,000,000 jobs', { running: 10_000, ready: 350_000, parcels: 1_500, scheduled: 500_000, failed: 40_000 }],
]

async function check(explainer: Explainer, client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `select id from sluice.job where worker is not null order by id limit ${slots}`,
  )
  const { rows: counted } = await client.query<{ n: number }>(
    `select count(*)::int as n from sluice.job where worker is not null`,
  )
  const running = counted[0]!.n
  const ids = rows.length > 0 ? rows.map(({ id }) => Number(id)) : Array.from({ length: slots }, (_, n) => n + 1)
  const calls: [string, [string, unknown[]]][] = [
    ['claim', statements.claim(slots)],
    ['done', statements.done(ids)],
    ['settle', statements.settle(ids)],
    ['beat', statements.beat()],
    ['promote', statements.promote()],
  ]
  for (const [name, [text, values]] of calls) {
    const { plans } = await explainer.explain(`test_${name}`, text, values, [], ['job', 'parcel'])
    expect(plans.length, `${name} touched no jobs`).toBeGreaterThan(0)
    for (const { text, plan } of plans) expect(complaints(name, plan, ids.length, running), `${text}\n${show(plan)}`).toEqual([])
  }
}

/** What is wrong with a plan. Nothing looks at more rows than it takes, but that jobs which run lie before those which are ready, that a parcel moves on to the first that it did not take, and that a heartbeat looks into eight parcels. */
function complaints(name: string, plan: Node, batch: number, running = 0): string[] {
  const all = nodes(plan)
  const onJobs = all.filter((node) => node['Relation Name'] === 'job')
  const onEither = all.filter((node) => ['job', 'parcel'].includes(node['Relation Name'] ?? ''))
  const visited = onJobs.map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'])
  const most = { claim: slots + running + 1, beat: 8 + running, promote: 500 }[name] ?? batch
  const blocks = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
  return [
    ...onEither.filter((node) => node['Node Type'] === 'Seq Scan').map(() => 'walks over the whole table'),
    ...onEither.filter((node) => /Bitmap/.test(node['Node Type'])).map(() => 'collects a bitmap'),
    ...all.filter((node) => node['Node Type'] === 'Nested Loop' && loops(node)).map(() => 'loops over the batch'),
    ...visited.filter((rows) => rows > most).map((rows) => `looks at ${rows} jobs to take ${most}`),
    ...(blocks > 200 + most * 40 ? [`reads ${blocks} blocks for ${most} jobs`] : []),
  ]
}

/** As many parcels as a heartbeat looks into. */
const loopsMax = 8

/** Whether the inner side of a nested loop is gone through for each row of the outer one, be it by an index. */
function loops(node: Node): boolean {
  const inner = node.Plans?.find((one) => one['Parent Relationship'] === 'Inner')
  return inner !== undefined && inner['Actual Loops'] > loopsMax
}

describe('claim, settle and upkeep go straight to their rows with', () => {
  test.for(scenes)('%s', async ([_name, counts], { client, explainer }) => {
    // Prepared while the table is empty, then filled without statistics, then analyzed.
    await check(explainer, client)
    await fill(client, counts)
    await check(explainer, client)
    await client.query('analyze sluice.job, sluice.parcel')
    await check(explainer, client)
  })
})

test('a claim that starts from a known rank does not walk over the dead', async ({ client, explainer, session }) => {
  await fill(client, { ready: 20_000 })
  const snapshot = await session()
  await snapshot.query('begin isolation level repeatable read; select 1')
  await client.query(`delete from sluice.job where rank <= 19000`)
  const blocks = async (since: number) => {
    const { plans, rows } = await explainer.explain('claim', statements.claim(slots)[0], ['light', worker, slots, since, []])
    expect(rows).toHaveLength(slots)
    return plans[0]!.plan['Shared Hit Blocks']! + (plans[0]!.plan['Shared Read Blocks'] ?? 0)
  }
  // What a claim from the very start has to look at while somebody holds a snapshot, and what it saves.
  const [fromTheStart, fromKnown] = [await blocks(Number.MIN_SAFE_INTEGER), await blocks(19_000)]
  expect(fromKnown).toBeLessThan(slots * 40)
  expect(fromKnown).toBeLessThan(fromTheStart)
})

test('a bad plan is noticed', async ({ client, explainer }) => {
  await fill(client, { running: 2_000 })
  await client.query('analyze sluice.job')
  const judge = async (text: string, ...off: string[]) => {
    const { plans } = await explainer.explain(`planted_${text.length}`, text, [], off)
    return plans.flatMap(({ plan }) => complaints('done', plan, slots))
  }
  expect(await judge('select count(payload) from sluice.job')).toContain('walks over the whole table')
  expect(
    await judge('select id from sluice.job where id <= 10', 'enable_indexscan', 'enable_indexonlyscan', 'enable_seqscan'),
  ).toContain('collects a bitmap')
  const joined = `select j.fence from sluice.job j left join unnest(array(select generate_series(1, 100))) u on j.id = u where j.id < 50`
  expect(await judge(joined, 'enable_hashjoin', 'enable_mergejoin', 'enable_seqscan', 'enable_bitmapscan')).toContain(
    'loops over the batch',
  )
})
