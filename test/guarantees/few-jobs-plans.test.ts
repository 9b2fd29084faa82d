/**
 * Whatever is done to one job reads a handful of others, however many there are: enqueues in every mode, steering, runs, events and schedules. Each call
 * is sent to a table with jobs in every state, and what its statements looked at is counted, as auto_explain reports it. Claim, settle, heartbeat
 * and promotion have a suite of their own (`plans.test.ts`), and so have lists.
 */
import pg from 'pg'
import { expect } from 'vitest'
import { test as base } from '../support/database.ts'
import { Explainer, type Node, nodes, show } from '../support/explainer.ts'

const states = ['ready', 'scheduled', 'paused', 'failed', 'running'] as const
type State = (typeof states)[number]

const jobsEach = 20_000
const group = 64
/** Looks at other jobs, by one statement and for one job that is meant. */
const looksMax = 50

interface Scene {
  readonly explainer: Explainer
  /** A job in this state, with this key. */
  readonly ids: Readonly<Record<State, number>>
  /** Jobs of a parcel: the first runs, the others wait. */
  readonly parceled: readonly number[]
  /** A job that runs and another that waits for its end. */
  readonly followed: number
  readonly run: number
}

const test = base.extend<{ scene: Scene; growing: { readonly session: pg.Client; fill(): Promise<Scene> } }>({
  /** A table without jobs whose statistics say so, a session that may already plan, and a way to fill it behind its back. */
  growing: async ({ client, database }, use) => {
    await client.query('set synchronous_commit = off')
    await client.query('alter table sluice.job set (autovacuum_enabled = off)')
    await client.query(`insert into sluice.kind (name, asks) values ('note', '{}'), ('planned', '{run}'), ('done', '{run,end}')`)
    await client.query(`insert into sluice.event_type (name) values ('happened')`)
    await client.query(`insert into sluice.subscription (event, kind) values ('happened', 'note')`)
    await client.query(
      `insert into sluice.schedule (name, kind, cron, overlap) values ('hourly', 'note', '0 * * * *', 'replace')`,
    )
    await client.query(
      `insert into sluice.worker (id, name, lease_until, channel, takes) values (1, 'me', now() + interval '1 h', 'mine', '{note}')`,
    )
    await client.query(`select pg_advisory_lock(1936487785, hashtext('mine'))`) // the process is idle
    const session = new pg.Client(database.url)
    await session.connect()
    await use({ session, fill: () => fill(client, session) })
    await session.end()
  },
  scene: async ({ growing }, use) => use(await growing.fill()),
})

async function fill(client: pg.Client, session: pg.Client): Promise<Scene> {
  const ids: Partial<Record<State, number>> = {}
  for (const state of states) {
    const { rows } = await client.query<{ id: string }>(
      `insert into sluice.job (kind, pool, shelf, rank, payload, key, max_attempts, created_at, worker, fence, run_at, attempt, root)
       select 'note', 'light', nullif(nullif($1::sluice.job_state, 'ready'), 'running'), n, '{}', 'note/' || $1::text || n, 5, now(),
              case when $1::text = 'running' then 1 end, 7, case when $1::text = 'scheduled' then now() + n * interval '1 h' end, 1, n % 100
       from generate_series(1, ${jobsEach}) n
       returning id`,
      [state],
    )
    ids[state] = Number(rows[6]?.id)
  }
  // One waits for a job that runs, another for one that has ended without telling it.
  const [followed, missed] = ['note/running8', 'note/over']
  await client.query(`update sluice.job set key_rule = 'again' where key = $1`, [followed])
  await client.query(
    `insert into sluice.job (kind, pool, shelf, rank, payload, after_key, max_attempts, created_at, run_at)
     select 'note', 'light', 'scheduled', 1, '{}', key, 5, now(), 'infinity' from unnest($1::text[]) as key`,
    [[followed, missed]],
  )
  const holder = await client.query<{ id: string }>('select id from sluice.job where key = $1', [followed])
  const { rows } = await client.query<{ id: string }>(
    `select id from sluice.start_run('planned', 'ann', '{}', 'test', 'done', '{}')`,
  )
  // As many parcels as a backlog has, and the one that is meant in their middle.
  await client.query(`
    insert into sluice.job (kind, pool, rank, payload, max_attempts, created_at, parcel)
    select 'note', 'light', n / ${group}, '{}', 5, now(), 1000000 + n / ${group} from generate_series(0, ${jobsEach - 1}) n`)
  await client.query(`
    insert into sluice.parcel (id, pool, kind, rank, first, next, last)
    select parcel, 'light', kind, min(rank), min(id), min(id), max(id) from sluice.job where parcel is not null group by parcel, kind`)
  const parcel = await client.query<{ id: string }>(
    `select id from sluice.job where parcel = ${1_000_000 + Math.floor(jobsEach / group / 2)} order by id`,
  )
  const parceled = parcel.rows.map(({ id }) => Number(id))
  await client.query('update sluice.job set worker = 1, attempt = 1, started_at = now(), fence = 7 where id = $1', [parceled[0]])
  const explainer = new Explainer(session)
  await explainer.open()
  return {
    explainer,
    ids: ids as Record<State, number>,
    parceled,
    followed: Number(holder.rows[0]?.id),
    run: Number(rows[0]?.id),
  }
}

function* calls({ ids, parceled, followed, run }: Omit<Scene, 'explainer'>): Generator<[name: string, text: string]> {
  for (const mode of ['keep', 'replace', 'debounce', 'again'])
    for (const key of ['new', ...states.map((state) => `${state}7`)]) {
      yield [`${mode}, ${key}`, `select sluice.enqueue('note', '{"n": 1}', mode => '${mode}', key => '${key}', delay => '1 s')`]
      const row = { kind: 'note', payload: {}, mode, key }
      yield [`${mode}, ${key}, in bulk`, `select sluice.enqueue_many('${JSON.stringify([row, row])}', true)`]
    }
  yield ['a window', `select sluice.enqueue('note', '{}', key => 'ready7', unique_for => '1 h')`]
  yield ['alike', `select sluice.enqueue_alike('note', '[{"n": 1}, {"n": 2}]', true)`]
  const payloads = JSON.stringify(Array.from({ length: group }, (_, n) => ({ n })))
  yield ['alike, in a parcel', `select sluice.enqueue_alike('note', '${payloads}', true)`]
  yield ['settle of a parcel', `select sluice.settle_done('{${parceled[0]}}', '{7}', true)`]
  yield [
    'retry of a parcel',
    `select sluice.settle(1, '{${parceled[0]}}', '{7}', '{retry}', '{1000}', '{null}', '{null}', '{0}', null, true)`,
  ]
  for (const id of parceled.slice(0, 3)) yield [`cancel in a parcel, ${id}`, `select sluice.cancel('{${id}}', 'enough')`]
  yield ['cancel of a whole parcel', `select sluice.cancel('{${parceled.join()}}', 'enough')`]
  yield ['lone', `select sluice.enqueue_lone('note', '{"n": 1}', true)`]
  yield ['handed over', `select sluice.enqueue_lone('note', '{"n": 1}', true, null, true)`]
  yield ['what was handed over', `select sluice.handed_to(1, now() - interval '1 min')`]
  for (const state of states) {
    yield [`cancel, ${state}`, `select sluice.cancel('{${ids[state]}}', 'enough')`]
    yield [`cancel with all below, ${state}`, `select sluice.cancel('{${ids[state]}}', 'enough', true)`]
    yield [`retry, ${state}`, `select sluice.retry('{${ids[state]}}')`]
    yield [`discard, ${state}`, `select sluice.discard('{${ids[state]}}')`]
  }
  yield ['settle', `select sluice.settle_done('{${ids.running}}', '{7}', true)`]
  yield ['settle of one that is followed', `select sluice.settle_done('{${followed}}', '{7}', true)`]
  yield [
    'failure of one that is followed',
    `select sluice.settle(1, '{${followed}}', '{7}', '{failed}', '{null}', '{null}', '{null}', '{0}', null, true)`,
  ]
  yield ['followers that nobody told', 'select sluice.release_missed()']
  yield ['beat of the leader', `select sluice.beat(1, 10000, '{light}', '{}', true, '{}')`]
  yield ['hold of a claim', `select sluice.hold_claim(${ids.running}, 7)`]
  yield ['start a run', `select sluice.start_run('planned', 'bob', '{}', 'test', 'done', '{}')`]
  yield ['stop a run', `select sluice.stop_run(${run}, 'canceled', 'enough')`]
  yield ['publish', `select sluice.publish('happened', job => ${ids.running})`]
  yield ['fire by hand', `select sluice.run_schedule('hourly')`]
}

/** `meant` is how many jobs it is about. */
function complaints(plan: Node, meant = 1): string[] {
  const onJobs = nodes(plan).filter((node) => node['Relation Name'] === 'job')
  const onEither = nodes(plan).filter((node) => ['job', 'parcel'].includes(node['Relation Name'] ?? ''))
  const looks = onJobs.reduce(
    (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    0,
  )
  return [
    ...onEither.filter((node) => node['Node Type'] === 'Seq Scan').map(() => 'walks over the whole table'),
    ...(looks > looksMax * meant ? [`looks at ${looks} jobs`] : []),
  ]
}

async function expectFewLooks(scene: Scene): Promise<void> {
  const wrong: string[] = []
  for (const [name, text] of calls(scene)) {
    const { plans } = await scene.explainer.explain('', text, [], [], ['job', 'parcel'])
    expect(plans.length, `${name} touched no jobs`).toBeGreaterThan(0)
    for (const { text, plan } of plans)
      wrong.push(
        ...complaints(plan, /^alike, in a parcel|whole parcel/.test(name) ? group : 1).map(
          (problem) => `${name}: ${problem}\n${text}\n${show(plan)}`,
        ),
      )
  }
  expect(wrong).toEqual([])
}

test.for(['before', 'after'])(
  '[E-24] [E-05] what is done to one job reads a handful of others, whatever lies in the table, %s its statistics are made',
  async (when, { scene, client }) => {
    if (when === 'after') await client.query('analyze sluice.job')
    await expectFewLooks(scene)
  },
)

test('[E-24] [E-05] and by plans that were made while the table was known to be empty', async ({ growing, client }) => {
  await client.query('analyze sluice.job')
  const nobody = {
    ids: Object.fromEntries(states.map((state) => [state, 1])) as Record<State, number>,
    parceled: [1, 2, 3],
    followed: 1,
    run: 1,
  }
  // PostgreSQL keeps a plan for good after five times.
  for (let time = 1; time <= 7; time++)
    for (const [, text] of calls(nobody)) {
      await growing.session.query('begin')
      await growing.session.query(text)
      await growing.session.query('rollback')
    }
  await expectFewLooks(await growing.fill())
})

/** They are only called by functions that do, and what those set holds for them as well. */
const called = ['claim_parcels', 'paused_kinds', 'rejoin_run', 'take_plain', 'tell_run_end']

test('[E-24] every function that reads a table that grows holds the planner by the hand', async ({ client }) => {
  const { rows } = await client.query<{ name: string }>(`
    select p.proname as name
    from pg_proc p
    where p.pronamespace = 'sluice'::regnamespace
      and p.prosrc ~* '(from|join|update|using) sluice\\.(job|queued|parcel|job_ledger|attempt|job_log|turn|run|run_key|key_window|event)\\M'
      and not coalesce(p.proconfig, '{}') @> '{enable_seqscan=off}'
    order by 1`)
  expect(rows.map(({ name }) => name)).toEqual(called)
})

test('[E-24] a statement that walks over jobs is noticed', async ({ scene }) => {
  const { plans } = await scene.explainer.explain(
    '',
    `select id from sluice.job where key = 'note/ready7' and shelf is null and worker is null`,
    [],
  )
  expect(plans.flatMap(({ plan }) => complaints(plan))).not.toEqual([])
})
