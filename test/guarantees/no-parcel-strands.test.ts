/**
 * A parcel never forgets a job. Groups are stored in transactions that stay open or are rolled back, single jobs in between; claimers take parts of parcels and are killed or leave; outsiders
 * lock jobs and parcels, cancel and pause. Between a look at parcels and what follows from it everybody sleeps for a random moment, so that what could go wrong there does. At the end
 * all jobs have ended once, nobody is held, and no parcel is left.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Engine } from '@sluice/engine'
import pg from 'pg'
import { expect } from 'vitest'
import { laneKinds, work } from '../programs/lane-kinds.ts'
import { effectTable } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { inject } from '../support/lane-chaos.ts'
import { endWorkers, type Program, test } from '../support/processes.ts'
import { drained } from '../support/tally.ts'

/** How long it goes on at least, and until what it is about has happened often enough. */
const chaosMs = 12_000
const chaosMsMax = 90_000
const [jobsMin, killsMin, sharedMin] = [1_000, 5, 20]
/** So few that a process takes a part of most parcels. */
const pools = { light: { core: 6, max: 8 } }
/** A pause takes whatever waits out of its parcels: where much waits and pauses are many, claims find none, and a slow machine would try nothing. */
const waitingMax = 150
const pauseShare = 0.03

/** Where somebody has looked and is about to act on it. */
const windows: readonly [name: string, before: string][] = [
  ['claim_parcels', '  if ids is not null then'],
  ['claim_parcels', '  perform sluice.tidy_parcels'],
  ['tidy_parcels', '  update sluice.parcel'],
  ['claim', '  if packed then'],
]

/** Each claim notes that another process runs jobs of the same parcel: to look now and then would be a matter of luck. */
const sharingTable = `
  create table sharing (parcel bigint not null);
  create function note_sharing() returns trigger language plpgsql as $$
  begin
    insert into sharing
    select new.parcel from sluice.parcel p
    where p.id = new.parcel
      and exists (select from sluice.job j where j.id between p.first and p.last and j.parcel = p.id and j.worker <> new.worker);
    return null;
  end $$;
  create trigger note_sharing after update on sluice.job
    for each row when (old.worker is null and new.worker is not null and new.parcel is not null) execute function note_sharing();`

test('[E-02] [E-07] [E-24] with every window between look and claim forced open, no parcel strands a job', async ({
  database,
  client,
  engines,
  program,
}) => {
  await client.query(effectTable)
  const engine = engines({ kinds: laneKinds })
  await engine.migrate()
  for (const [name, before] of windows) await inject(client, name, before, 'perform pg_sleep(random() * 0.015);')
  await client.query(sharingTable)
  const start = (): Program => program('lane-worker', { pools, lease: '1s', grace: '20ms', crashesMax: 100 })
  const workers = Array.from({ length: 3 }, start)
  await Promise.all(workers.map((worker) => worker.hears('worker')))

  const beganMs = performance.now()
  const committed: number[] = []
  const ends = { kills: 0, leaves: 0 }
  let shared = 0
  const over = (): boolean => {
    const lastedMs = performance.now() - beganMs
    return (
      lastedMs > chaosMsMax || (lastedMs > chaosMs && committed.length > jobsMin && ends.kills >= killsMin && shared > sharedMin)
    )
  }
  await Promise.all([
    disturb(database.url, engine, over),
    watch(database.url, (parcels) => void (shared = parcels), over),
    endWorkers(client, workers, start, over, ends),
    ...[1, 2].map(() => enqueueUntil(database.url, engine, over, committed)),
  ])
  await drained(client, 60_000)
  await eventually(async () => (await client.query('select from sluice.parcel')).rowCount === 0)
  console.log(`no parcel strands: ${JSON.stringify({ jobs: committed.length, ends, shared })}`)

  const { rows: ledger } = await client.query<{ id: number; state: string; times: number }>(
    `select id::int, state, count(*)::int as times from sluice.job_ledger group by 1, 2`,
  )
  expect(ledger.filter(({ state, times }) => !['succeeded', 'canceled'].includes(state) || times !== 1)).toEqual([])
  expect(ledger.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(committed.toSorted((a, b) => a - b))
  expect((await client.query(`select job from effect group by job having count(*) > 1`)).rows).toEqual([])
  expect(committed.length).toBeGreaterThan(jobsMin)
  expect(ends.kills).toBeGreaterThanOrEqual(killsMin)
  expect(shared).toBeGreaterThan(sharedMin)
}, 240_000)

/** Groups and single jobs, in transactions that stay open for a while, and some that are rolled back. Adds what was committed. */
async function enqueueUntil(url: string, engine: Engine, over: () => boolean, committed: number[]): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    while (!over()) {
      await eventually(async () => over() || (await waiting(client)) < waitingMax)
      await client.query('begin')
      const size = Math.random() < 0.3 ? 1 : 16 + Math.floor(Math.random() * 60)
      const jobs = await engine.enqueueMany(
        Array.from({ length: size }, () => work({ ms: 40 })),
        { client },
      )
      await wait(Math.random() < 0.1 ? 400 : Math.random() * 30)
      const keep = Math.random() < 0.8
      await client.query(keep ? 'commit' : 'rollback')
      if (keep) committed.push(...jobs.map(({ id }) => id))
      await wait(Math.random() * 150)
    }
  } finally {
    await client.end()
  }
}

async function waiting(client: pg.Client): Promise<number> {
  return (await client.query('select from sluice.job where worker is null')).rowCount ?? 0
}

/** Locks waiting jobs or parcels and lets them go, cancels, pauses and resumes. */
async function disturb(url: string, engine: Engine, over: () => boolean): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    while (!over()) {
      const dice = Math.random()
      if (dice < 1 - pauseShare) {
        await client.query('begin')
        if (dice < 0.3) await client.query('select from sluice.job where worker is null and id % 3 = 0 for update skip locked')
        else if (dice < 0.6) await client.query('select from sluice.parcel for update skip locked')
        else
          await client.query(
            'select sluice.cancel(array(select id from sluice.job where worker is null order by random() limit 2), null, false, false)',
          )
        await wait(Math.random() * 60)
        await client.query(Math.random() < 0.5 ? 'commit' : 'rollback')
      } else {
        await engine.pause({ scope: 'kind', name: 'lane.work' })
        await wait(Math.random() * 80)
        await engine.resume({ scope: 'kind', name: 'lane.work' })
      }
      await wait(Math.random() * 30)
    }
  } finally {
    await client.end()
  }
}

/** How many parcels have been in several hands at once, so far. */
async function watch(url: string, tell: (shared: number) => void, over: () => boolean): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  while (!over()) {
    const { rows } = await client.query<{ shared: number }>('select count(distinct parcel)::int as shared from sharing')
    tell(rows[0]?.shared ?? 0)
    await wait(100)
  }
  await client.end()
}
