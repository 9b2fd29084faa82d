/**
 * Lists for people cost the same however many jobs there are: by index, newest first, no more rows than the page looks at. The plans are
 * those really used inside the functions, prepared while the tables are empty, then with 35 days of ledger, then analyzed. Nobody else analyzes: what a session
 * knows of a table is read anew after that, and those pages would be counted as the list's.
 */
import pg from 'pg'
import { expect } from 'vitest'
import { runColumns } from '#engine/run/runs'
import { test as base } from '../support/database.ts'
import { Explainer, type Node, nodes, show } from '../support/explainer.ts'

const page = 50
const look = 5_000
const days = 35

interface Fixtures {
  explainer: Explainer
}

const test = base.extend<Fixtures>({
  explainer: async ({ client, database }, use) => {
    await client.query(`select sluice.add_days((sluice.now() at time zone 'UTC')::date - ${days}, ${days})`)
    for (const table of await tablesOf(client)) await client.query(`alter table sluice.${table} set (autovacuum_enabled = off)`)
    await client.query(`insert into sluice.kind (name) values ('k1')`)
    await client.query(`insert into sluice.worker (id, name, lease_until) values (1, 'me', now() + interval '1 h')`)
    await client.query('set synchronous_commit = off')
    const session = new pg.Client(database.url)
    await session.connect()
    const explainer = new Explainer(session)
    await explainer.open()
    await use(explainer)
    await session.end()
  },
})

/**
 * Finished jobs over all days, then live ones; every fourth belongs to a run of 1,000 ids. The first half of those came of its first job, the second half
 * of others of the run.
 */
async function fill(client: pg.Client, finished: number, live: number): Promise<void> {
  const inTree = 'n % 4 = 0 and n % 1000 > 0'
  const family = `case when n % 4 = 0 then n / 1000 + 1 end, case when ${inTree} then n / 1000 * 1000 end,
                  case when ${inTree} then case when n % 1000 <= 500 then n / 1000 * 1000 else n - 4 end end`
  await client.query(
    `insert into sluice.job_ledger (id, kind, pool, lane, owner, state, priority, payload, run, root, parent, attempt, fence, created_at, finished_at)
     select n, 'k' || n % 20, 'light', '', 'o' || n % 5000, case when n % 500 = 0 then 'canceled' when n % 501 = 0 then 'failed' else 'succeeded' end::sluice.job_state,
            0, jsonb_build_object('n', n), ${family}, 1, 1, at, at
     from (select n, now() - interval '${days - 1} days' + n * (interval '${days - 1} days' / ${finished}) as at from generate_series(1, ${finished}) n) x`,
  )
  await client.query(
    `insert into sluice.job (id, kind, pool, shelf, rank, payload, max_attempts, created_at, run, root, parent, run_at, worker, owner, error)
     select n, 'k' || n % 20, 'light', nullif(nullif(state, 'ready'), 'running'), n, jsonb_build_object('n', n), 5, now(), ${family},
            case when state = 'scheduled' then now() end, case when state = 'running' then 1 end, 'o' || n % 5000,
            case when state = 'failed' then '{"message": "no"}'::jsonb end
     from (select n, ('{ready,scheduled,failed,paused,running}'::sluice.job_state[])[1 + n % 5] as state
           from generate_series(${finished + 1}, ${finished + live}) n) x`,
  )
  await client.query(
    `insert into sluice.run (id, kind, owner, state, trigger, payload, root_job, root_children)
     select n, 'r' || n % 7, 'o' || n, (array['completed', 'failed', 'canceled', 'created'])[1 + n % 4], 't', '{}', (n - 1) * 1000,
            int8range((n - 1) * 1000 + 4, (n - 1) * 1000 + 500, '[]')
     from generate_series(1, ${Math.ceil((finished + live) / 1000)}) n`,
  )
  await client.query(
    `insert into sluice.lane (key, owner, paused) select 'l' || n, 'o' || n % 500, case when n % 2 = 0 then 'p' end from generate_series(1, ${Math.ceil(live / 5)}) n`,
  )
}

const jobs = (filter: object, before: number | null = null): [string, unknown[]] => [
  'select * from sluice.list_jobs($1::jsonb, $2, $3, $4)',
  [JSON.stringify(filter), before, page, look],
]
/** With what is shown of each: of one that has not begun, whether its first job has. */
const runs = (filter: object): [string, unknown[]] => [
  `select ${runColumns.text} from sluice.list_runs($1::jsonb, $2, $3, $4) as l cross join lateral (select (l.run).*) as r`,
  [JSON.stringify(filter), null, page, look],
]
const lanes = (owner: string | null, closed: boolean | null): [string, unknown[]] => [
  'select * from sluice.list_lanes($1, $2, $3, $4, $5)',
  [owner, closed, '', page, look],
]

/** Each list, and how many rows it may look at: the page and the one after it, or as far as an unindexed filter goes. */
const lists: [name: string, statement: [string, unknown[]], most: number][] = [
  ['all jobs', jobs({}), page + 1],
  ['failed jobs', jobs({ states: ['failed'] }), page + 1],
  ['canceled jobs', jobs({ states: ['canceled'] }), page + 1],
  ['succeeded jobs', jobs({ states: ['succeeded'] }), page + 10],
  ['running jobs', jobs({ states: ['running'] }), look + 1],
  ['jobs of a run', jobs({ run: 3 }), page + 1],
  ['jobs of a tree', jobs({ tree: 2000 }), page + 1],
  ['jobs of a run among strangers', jobs({ run: 3 }, 2450), 4 * page + 10],
  ['jobs of a tree among strangers', jobs({ tree: 2000 }, 2450), 4 * page + 10],
  ['jobs of a group of dead letters', jobs({ states: ['failed'], error: '0000000000000000' }), look + 1],
  ['jobs of a kind', jobs({ kind: 'k3' }), 20 * page + 20],
  ['jobs of an owner nobody knows', jobs({ owner: 'nobody' }), look + 1],
  ['ready jobs of an owner nobody knows', jobs({ states: ['ready'], owner: 'nobody' }), look + 1],
  ['a payload nobody has', jobs({ payload: { n: -1 } }), look + 1],
  ['all runs', runs({}), 2 * page + 2],
  ['runs of a kind', runs({ kind: 'r3' }), 2 * page + 2],
  ['runs of an owner', runs({ owner: 'o3' }), 2 * page + 2],
  ['runs that have not begun', runs({ states: ['created'] }), 2 * page + 2],
  ['failed runs', runs({ states: ['failed'] }), 2 * page + 2],
  ['all lanes', lanes(null, null), page + 1],
  ['closed lanes', lanes(null, true), 2 * page + 1],
  ['lanes of an owner', lanes('o3', null), page + 1],
  ['groups of dead letters', ['select * from sluice.dead_letters($1, $2, $3)', [null, page, look]], look + 1],
  ['the tree of a run', ['select * from sluice.run_tree($1, 0, 0, $2)', [3, page]], 4 * page + 10],
  ['the counts of a run', ['select * from sluice.count_run($1, $2)', [3, look]], look + 1],
  ['the counts of jobs', ['select * from sluice.count_jobs($1)', [look]], look + 1],
  ['the counts of runs', ['select * from sluice.count_runs($1)', [look]], look + 1],
  ['the pools', ['select * from sluice.list_pools($1)', [look]], look + 1],
  ['jobs of no process', ['select * from sluice.count_orphans($1)', [look]], look + 1],
  ['all owners', ['select * from sluice.list_owners($1, $2)', ['', page]], page + 1],
]

const tablesOf = async (client: pg.Client): Promise<string[]> => {
  const { rows } = await client.query<{ relname: string }>(
    `select relname from pg_class where relnamespace = 'sluice'::regnamespace and relkind = 'r' and relname ~ '^(job|job_ledger_.*|attempt_.*|run|lane|owner|event)$'`,
  )
  return rows.map(({ relname }) => relname)
}

function complaints(plan: Node, tables: readonly string[], most: number): string[] {
  const touched = nodes(plan).filter((node) => tables.includes(node['Relation Name'] ?? ''))
  // The planner may look at a row of each day to know which is newest.
  const visited = touched.map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'])
  const sum = visited.reduce((all, rows) => all + rows, 0)
  return [
    ...touched
      .filter((node) => /Seq Scan|Bitmap/.test(node['Node Type']))
      .map((node) => `${node['Node Type']} on ${node['Relation Name']}`),
    ...nodes(plan)
      .filter((node) => node['Node Type'].endsWith('Sort') && (node.Plans?.[0]?.['Actual Rows'] ?? 0) > most)
      .map(() => 'sorts'),
    ...(sum > most + tables.length ? [`looks at ${sum} rows for ${most}`] : []),
  ]
}

async function check(explainer: Explainer, client: pg.Client): Promise<Map<string, number>> {
  const tables = await tablesOf(client)
  const blocks = new Map<string, number>()
  for (const [name, [text, values], most] of lists) {
    const { plans } = await explainer.explain(`test ${name}`, text, values, [], tables)
    expect(plans.length, `${name} touched no table`).toBeGreaterThan(0)
    for (const { text, plan } of plans) expect(complaints(plan, tables, most), `${name}: ${text}\n${show(plan)}`).toEqual([])
    blocks.set(
      name,
      plans.reduce((sum, { plan }) => sum + (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0), 0),
    )
  }
  return blocks
}

test('[O-03] lists go straight to their rows by index, with a thousand jobs and with hundreds of thousands', async ({
  client,
  explainer,
}) => {
  await check(explainer, client)
  await fill(client, 300_000, 100_000)
  await check(explainer, client)
  await client.query('analyze')
  await check(explainer, client)
})

test('[O-03] a page reads no more than half as much again with 200 times the jobs', async ({ client, explainer }) => {
  await fill(client, 1_000, 1_000)
  const few = await check(explainer, client)
  await client.query('truncate sluice.job, sluice.job_ledger, sluice.run, sluice.lane')
  await fill(client, 300_000, 100_000)
  const many = await check(explainer, client)
  for (const name of ['all jobs', 'failed jobs', 'canceled jobs', 'succeeded jobs', 'all runs', 'all lanes'])
    expect(many.get(name), name).toBeLessThanOrEqual(1.5 * few.get(name)! + days)
})

test('[O-03] a list that walks over everything is noticed', async ({ client, explainer }) => {
  await fill(client, 2_000, 2_000)
  const tables = await tablesOf(client)
  const judge = async (text: string) => {
    const { plans } = await explainer.explain(`planted ${text.length}`, text, [], [], tables)
    return plans.flatMap(({ plan }) => complaints(plan, tables, page))
  }
  expect(await judge(`select count(payload) from sluice.job where owner = 'x'`)).toContain('Seq Scan on job')
  expect((await judge(`select count(*) from sluice.any_job where id > 0 and run = 9`)).join()).toMatch(/Seq Scan on job_ledger_/)
  expect((await judge('select id from sluice.any_job order by created_at limit 5')).join()).toMatch(/sorts/)
})
