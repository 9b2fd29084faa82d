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
/** Looks at other jobs, by one statement and for one job that is meant. */
const looksMax = 50

interface Scene {
  readonly explainer: Explainer
  /** A job in this state, with this key. */
  readonly ids: Readonly<Record<State, number>>
  readonly run: number
}

const test = base.extend<{ scene: Scene }>({
  scene: async ({ client, database }, use) => {
    await client.query('set synchronous_commit = off')
    await client.query('alter table sluice.job set (autovacuum_enabled = off)')
    await client.query(`insert into sluice.kind (name, asks) values ('note', '{}'), ('planned', '{run}'), ('done', '{run,end}')`)
    await client.query(`insert into sluice.event_type (name) values ('happened')`)
    await client.query(`insert into sluice.subscription (event, kind) values ('happened', 'note')`)
    await client.query(
      `insert into sluice.schedule (name, kind, cron, overlap) values ('hourly', 'note', '0 * * * *', 'replace')`,
    )
    await client.query(`insert into sluice.worker (id, name, lease_until) values (1, 'me', now() + interval '1 h')`)
    const ids: Partial<Record<State, number>> = {}
    for (const state of states) {
      const { rows } = await client.query<{ id: string }>(
        `insert into sluice.job (kind, pool, state, shelf, rank, payload, key, max_attempts, created_at, worker, fence, run_at, attempt, root)
         select 'note', 'light', $1::sluice.job_state, sluice.shelf_of($1::sluice.job_state), n, '{}', 'note/' || $1::text || n, 5, now(),
                case when $1::text = 'running' then 1 end, 7, case when $1::text = 'scheduled' then now() + n * interval '1 h' end, 1, n % 100
         from generate_series(1, ${jobsEach}) n
         returning id`,
        [state],
      )
      ids[state] = Number(rows[6]?.id)
    }
    const { rows } = await client.query<{ id: string }>(
      `select id from sluice.start_run('planned', 'ann', '{}', 'test', 'done', '{}')`,
    )
    const session = new pg.Client(database.url)
    await session.connect()
    const explainer = new Explainer(session)
    await explainer.open()
    await use({ explainer, ids: ids as Record<State, number>, run: Number(rows[0]?.id) })
    await session.end()
  },
})

function* calls({ ids, run }: Scene): Generator<[name: string, text: string]> {
  for (const mode of ['keep', 'replace', 'debounce', 'again'])
    for (const key of ['new', ...states.map((state) => `${state}7`)]) {
      yield [`${mode}, ${key}`, `select sluice.enqueue('note', '{"n": 1}', mode => '${mode}', key => '${key}', delay => '1 s')`]
      const row = { kind: 'note', payload: {}, mode, key }
      yield [`${mode}, ${key}, in bulk`, `select sluice.enqueue_many('${JSON.stringify([row, row])}', true)`]
    }
  yield ['a window', `select sluice.enqueue('note', '{}', key => 'ready7', unique_for => '1 h')`]
  yield ['alike', `select sluice.enqueue_alike('note', '[{"n": 1}, {"n": 2}]', true)`]
  yield ['lone', `select sluice.enqueue_lone('note', '{"n": 1}', true)`]
  for (const state of states) {
    yield [`cancel, ${state}`, `select sluice.cancel('{${ids[state]}}', 'enough')`]
    yield [`cancel with all below, ${state}`, `select sluice.cancel('{${ids[state]}}', 'enough', true)`]
    yield [`retry, ${state}`, `select sluice.retry('{${ids[state]}}')`]
    yield [`discard, ${state}`, `select sluice.discard('{${ids[state]}}')`]
  }
  yield ['settle', `select sluice.settle_done('{${ids.running}}', '{7}', true)`]
  yield ['start a run', `select sluice.start_run('planned', 'bob', '{}', 'test', 'done', '{}')`]
  yield ['stop a run', `select sluice.stop_run(${run}, 'canceled', 'enough')`]
  yield ['publish', `select sluice.publish('happened')`]
  yield ['fire by hand', `select sluice.run_schedule('hourly')`]
}

function complaints(plan: Node): string[] {
  const onJobs = nodes(plan).filter((node) => node['Relation Name'] === 'job')
  const looks = onJobs.reduce(
    (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    0,
  )
  return [
    ...onJobs.filter((node) => node['Node Type'] === 'Seq Scan').map(() => 'walks over the whole table'),
    ...(looks > looksMax ? [`looks at ${looks} jobs`] : []),
  ]
}

test.for(['before', 'after'])(
  '[E-24] [E-05] what is done to one job reads a handful of others, whatever lies in the table, %s its statistics are made',
  async (when, { scene, client }) => {
    if (when === 'after') await client.query('analyze sluice.job')
    const wrong: string[] = []
    for (const [name, text] of calls(scene)) {
      const { plans } = await scene.explainer.explain('', text, [])
      expect(plans.length, `${name} touched no jobs`).toBeGreaterThan(0)
      for (const { text, plan } of plans)
        wrong.push(...complaints(plan).map((problem) => `${name}: ${problem}\n${text}\n${show(plan)}`))
    }
    expect(wrong).toEqual([])
  },
)

test('[E-24] a statement that walks over jobs is noticed', async ({ scene }) => {
  const { plans } = await scene.explainer.explain(
    '',
    `select id from sluice.job where key = 'note/ready7' and state = 'ready'`,
    [],
  )
  expect(plans.flatMap(({ plan }) => complaints(plan))).not.toEqual([])
})
