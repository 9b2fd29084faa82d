/** The life of a job as data agrees with the database: the same states, every move possible, and no row of an impossible shape. */
import { expect } from 'vitest'
import { test } from '../../../../test/support/database.ts'
import { type JobState, moves } from './lifecycle.ts'

const states = Object.keys(moves) as JobState[]

test('[E-01] the database knows the same states', async ({ client }) => {
  const { rows } = await client.query('select unnest(enum_range(null::sluice.job_state))::text as state')
  expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(states))
})

test('every move leads to a state, none to the same one, and from the end there is none', () => {
  for (const state of states) {
    expect(moves[state]).not.toContain(state)
    for (const next of moves[state]) expect(states).toContain(next)
  }
  expect(states.filter((state) => moves[state].length === 0)).toEqual(['succeeded', 'canceled'])
})

test('every state can be reached, and from each live one the job can come to an end', () => {
  const reach = (from: JobState, seen = new Set<JobState>()): Set<JobState> => {
    for (const next of moves[from]) if (!seen.has(next)) reach(next, seen.add(next))
    return seen
  }
  expect([...reach('scheduled'), 'scheduled'].toSorted()).toEqual(expect.arrayContaining(states))
  for (const state of states.filter((one) => moves[one].length > 0)) {
    expect(reach(state)).toContain('succeeded')
    expect(reach(state)).toContain('canceled')
  }
})

test.for<[what: string, change: string, code?: string]>([
  ['a finished job in the table of live ones', `shelf = 'succeeded'`],
  ['a canceled job in the table of live ones', `shelf = 'canceled'`],
  ['a worker on a job that is paused', `shelf = 'paused', worker = 1`],
  ['a worker on a job that failed', `shelf = 'failed', worker = 1`],
  ['a worker on a job that is scheduled', `shelf = 'scheduled', run_at = now(), worker = 1`],
  ['a scheduled job without a time', `shelf = 'scheduled'`],
  ['a ready job on a shelf of that name', `shelf = 'ready'`],
  ['a running job on a shelf', `shelf = 'running'`],
  ['a key without a rule', `key = 'k', key_rule = null`, '23502'],
  ['a key with a rule that nobody knows', `key = 'k', key_rule = 'sometimes'`, '22P02'],
])('[E-01] the table refuses %s', async ([, change, code = '23514'], { client }) => {
  await client.query(`
    insert into sluice.kind (name) values ('x');
    select sluice.enqueue('x')`)
  await expect(client.query(`update sluice.job set ${change}`)).rejects.toMatchObject({ code })
})

test.for<[change: string, state: string]>([
  ['worker = null', 'ready'],
  ['worker = 1', 'running'],
  [`shelf = 'scheduled', run_at = now()`, 'scheduled'],
  [`shelf = 'paused'`, 'paused'],
  [`shelf = 'failed'`, 'failed'],
])('[E-01] a live job with %s is %s, whoever looks', async ([change, state], { client, engines }) => {
  const engine = engines()
  await engine.migrate()
  const { rows } = await client
    .query<{ id: string }>(`
    insert into sluice.kind (name) values ('x');
    insert into sluice.job (kind, pool, rank, payload, max_attempts, created_at) values ('x', 'light', 1, '{}', 5, now());
    update sluice.job set ${change} returning id`)
    .then((results) => (results as unknown as (typeof results)[]).at(-1)!)
  expect(await engine.find(Number(rows[0]!.id))).toMatchObject({ state })
  expect((await engine.inspect.jobs({})).items).toMatchObject([{ state }])
})

test('[E-01] the ledger refuses jobs that are not finished', async ({ client }) => {
  const insert = (state: string) =>
    client.query(
      `insert into sluice.job_ledger (id, kind, pool, lane, state, priority, payload, attempt, fence, created_at, finished_at)
       values (1, 'x', 'light', '', $1, 0, '{}', 1, 1, sluice.now(), sluice.now())`,
      [state],
    )
  for (const state of states) {
    const ended = state === 'succeeded' || state === 'canceled' || state === 'failed'
    if (ended) await insert(state)
    else await expect(insert(state)).rejects.toMatchObject({ code: '23514' })
  }
})
