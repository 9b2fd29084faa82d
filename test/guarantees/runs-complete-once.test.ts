/**
 * A run completes once: whoever ends its last job, on whichever machine, whatever died on the way. Completions are counted by a trigger that
 * keeps every change of a run's state, in the transaction that made it.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { FailPoint, Run } from '@sluice/engine'
import type pg from 'pg'
import { expect } from 'vitest'
import { runKinds, totalOf, walk } from '../programs/run-kinds.ts'
import { effectTable } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { endHolder, type Program, test } from '../support/processes.ts'

const finals = ['completed', 'failed', 'canceled']

async function keepChanges(client: pg.Client): Promise<void> {
  await client.query(effectTable)
  await client.query(`
    create table run_change (run bigint not null, was text, state text not null, live int not null);
    create function keep_change() returns trigger language plpgsql as $$ begin
      insert into run_change values (new.id, old.state, new.state, (select count(*) from sluice.job j where j.run = new.id and j.shelf is distinct from 'failed'));
      return new; end $$;
    create trigger keep_change after update of state on sluice.run for each row when (old.state <> new.state) execute function keep_change()`)
}

interface Change {
  readonly was: string
  readonly state: string
  readonly live: number
}

async function changesOf(client: pg.Client, run: number): Promise<Change[]> {
  return (await client.query<Change>('select was, state, live from run_change where run = $1', [run])).rows
}

async function effectsOf(client: pg.Client, run: number): Promise<{ pages: number; distinct: number; ends: number }> {
  const { rows } = await client.query(
    `select count(*) filter (where kind like 'page %')::int as pages, count(distinct kind) filter (where kind like 'page %')::int as distinct,
            count(*) filter (where kind like 'end %')::int as ends
     from effect where kind like '% of ' || $1`,
    [run],
  )
  return rows[0]
}

const pools = { light: { core: 10, max: 20 } }
const shapes = [
  { pages: 0, bad: 0, depth: 0 },
  { pages: 1, bad: 0, depth: 3 },
  { pages: 2, bad: 2, depth: 0 },
  { pages: 40, bad: 0, depth: 2 },
  { pages: 60, bad: 13, depth: 3 },
  { pages: 16, bad: 0, depth: 0 },
]

test('[E-15] eight processes end jobs of the same runs, some are killed, some runs canceled: each completes once, with the right totals', async ({
  client,
  engines,
  program,
}) => {
  await keepChanges(client)
  const engine = engines({ kinds: runKinds, runs: [walk] })
  await engine.migrate()
  const start = (): Program => program('run-worker', { pools, workMs: 8, lease: '1s', crashesMax: 100 })
  const workers = Array.from({ length: 8 }, start)
  await Promise.all(workers.map((worker) => worker.hears('worker')))

  const wanted = new Map<number, (typeof shapes)[number]>()
  const canceled = new Set<number>()
  for (let round = 0; round < 6; round++) {
    for (const [n, shape] of shapes.entries()) {
      const { id } = await engine.runs.start(walk(shape, { owner: `${round}/${n}` }))
      wanted.set(id, shape)
      if (n === 4 && round % 2 === 1) {
        await wait(Math.random() * 60)
        if ((await engine.runs.cancel(id, 'not wanted')) === 'canceled') canceled.add(id)
      }
    }
    await endHolder(client, workers)
    workers.push(start())
  }
  const runs = await eventually(async () => {
    const all = await Promise.all([...wanted.keys()].map((id) => engine.runs.find(id)))
    return all.every((run) => run?.finishedAt && run.pending === 0) ? (all as Run[]) : undefined
  }, 120_000)
  const { rows: lost } = await client.query(`select count(*)::int as lost from sluice.attempt where outcome = 'lost'`)
  console.log(`runs complete once: ${JSON.stringify({ runs: runs.length, canceled: canceled.size, ...lost[0] })}`)

  for (const run of runs) {
    const shape = wanted.get(run.id)!
    const changes = await changesOf(client, run.id)
    const said = `run ${run.id} ${JSON.stringify(shape)}: ${JSON.stringify(changes)}`
    expect(
      changes.filter(({ state }) => finals.includes(state)),
      said,
    ).toHaveLength(1)
    const effects = await effectsOf(client, run.id)
    expect(effects.pages, said).toBe(effects.distinct)
    expect(run.succeeded + run.failed + run.canceled, said).toBe(run.total)
    if (canceled.has(run.id)) expect(run.state).toBe('canceled')
    else {
      expect(run, said).toMatchObject({ state: 'completed', total: totalOf(shape), failed: shape.bad, canceled: 0 })
      expect(effects, said).toEqual({ pages: run.total - 1 - shape.bad, distinct: run.total - 1 - shape.bad, ends: 1 })
      // When it began to end, nothing of it was left but its finalizer.
      expect(changes.find(({ state }) => state === 'finalizing')?.live, said).toBe(1)
    }
  }
  expect(lost[0].lost).toBeGreaterThan(3)
}, 240_000)

const places: (FailPoint | 'plan' | 'page' | 'finalize')[] = [
  'claimed',
  'plan',
  'handler ended',
  'before commit',
  'settled',
  'page',
  'finalize',
]

test.concurrent.for(places)(
  '[E-16] a run whose worker dies at "%s" is planned again without duplicates and completes once',
  async (at, { client, engines, program }) => {
    await keepChanges(client)
    const engine = engines({ kinds: runKinds, runs: [walk], services: { enter: async () => {} }, lease: '1s', pools })
    const shape = { pages: 30, bad: 2, depth: 2 }
    const { id } = await engine.runs.start(walk(shape))
    const victim = program('run-worker', { at, lease: '1s', pools })
    expect(await victim.ended, victim.complaints).toEqual({ code: null, signal: 'SIGKILL' })
    expect(victim.said).toContainEqual({ reached: at })

    await engine.start()
    const run = await eventually(async () => {
      const found = await engine.runs.find(id)
      return found?.finishedAt ? found : undefined
    }, 60_000)
    const total = totalOf(shape)
    expect(run).toMatchObject({ state: 'completed', total, pending: 0, succeeded: total - 2, failed: 2, canceled: 0 })
    expect((await changesOf(client, id)).filter(({ state }) => finals.includes(state))).toHaveLength(1)
    expect(await effectsOf(client, id)).toEqual({ pages: total - 3, distinct: total - 3, ends: 1 })
    const { rows } = await client.query(
      `select count(*)::int as keys, count(distinct key)::int as distinct from sluice.run_key where run = $1`,
      [id],
    )
    expect(rows[0]).toEqual({ keys: total - 1, distinct: total - 1 })
  },
)
