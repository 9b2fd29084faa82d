/**
 * A lane never forgets a job. Enqueuers commit, wait long before they do, or roll back; claimers empty lanes, fill caps and are killed or
 * leave; outsiders lock rows, pause, hold and change. Between a lock and the look under it everybody sleeps for a random moment, so that
 * what could go wrong there does. At the end all jobs have ended once and nothing is left; in between, no snapshot shows a lane whose count
 * is not what runs in it, or is above its cap.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Engine, LaneLimits } from '@sluice/engine'
import pg from 'pg'
import { expect } from 'vitest'
import { laneKinds, work } from '../programs/lane-kinds.ts'
import { effectTable } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { disturb, openWindows } from '../support/lane-chaos.ts'
import { endWorkers, type Program, test } from '../support/processes.ts'
import { drained } from '../support/tally.ts'

/** How long it goes on at least, and until what it is about has happened often enough. */
const chaosMs = 14_000
const chaosMsMax = 90_000
const [jobsMin, killsMin, lostMin] = [500, 6, 6]
const limits: Record<string, LaneLimits> = {
  'cap:*': { cap: 2 },
  'one:*': { cap: 1 },
  'probe:*': { budget: { floor: 0 } },
  'shaky:*': { breaker: { after: 3, cooldown: '30ms' } },
}
const lanes = ['cap:a', 'cap:b', 'one:a', 'one:b', 'probe:a', 'shaky:a', 'free:a', 'free:b', 'ann:x', 'ann:y', 'ann:z', 'bob:x']
const owners = ['ann', 'bob']
const ownerCap = 3
const pools = { light: { core: 6, max: 10 }, heavy: { core: 2, max: 4 } }

test('[E-12] [E-21] with every window between lock and look forced open, no lane strands a job, miscounts or exceeds its cap', async ({
  database,
  client,
  engines,
  program,
}) => {
  await client.query(effectTable)
  const engine = engines({ kinds: laneKinds, lanes: limits })
  await engine.migrate()
  await openWindows(client, 15)
  await engine.owners.set('ann', { cap: ownerCap })
  const start = (): Program => program('lane-worker', { lanes: limits, pools, lease: '1s', grace: '20ms', crashesMax: 100 })
  const workers = Array.from({ length: 4 }, start)
  await Promise.all(workers.map((worker) => worker.hears('worker')))

  const beganMs = performance.now()
  const committed: number[] = []
  const ends = { kills: 0, leaves: 0 }
  const over = (): boolean => {
    const lastedMs = performance.now() - beganMs
    const enough = committed.length > jobsMin && ends.kills >= killsMin && watching.seen.lost >= lostMin
    return lastedMs > chaosMsMax || (lastedMs > chaosMs && enough)
  }
  const watching = watch(database.url)
  const [disturbances] = await Promise.all([
    Promise.all([1, 2].map(() => disturb(database.url, engine, { lanes, owners }, over))),
    endWorkers(client, workers, start, over, ends),
    ...[1, 2, 3].map(() => enqueueUntil(database.url, engine, over, committed)),
  ])
  const startedMs = performance.now()
  await drained(client, 60_000).finally(watching.stop)
  const drainedMs = performance.now() - startedMs
  await eventually(async () => (await client.query('select from sluice.turn')).rowCount === 0)
  await watching.ended
  const { looks, lost, wrong } = watching.seen
  console.log(`no lane strands: ${JSON.stringify({ jobs: committed.length, disturbances, ends, looks, lost, drainedMs })}`)

  expect(wrong).toEqual([])
  const { rows: ledger } = await client.query(
    `select id::int, state, count(*)::int as times from sluice.job_ledger group by 1, 2`,
  )
  expect(ledger.filter(({ state, times }) => state !== 'succeeded' || times !== 1)).toEqual([])
  expect(ledger.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(committed.toSorted((a, b) => a - b))
  const { rows: doubled } = await client.query(`select job from effect group by job having count(*) > 1`)
  expect(doubled).toEqual([])
  const { rows: held } = await client.query(
    `select key, in_flight, in_flight_cost from sluice.lane where in_flight <> 0 or in_flight_cost <> 0`,
  )
  expect(held).toEqual([])
  expect(committed.length).toBeGreaterThan(jobsMin)
  expect(ends.kills).toBeGreaterThanOrEqual(killsMin)
  expect(lost).toBeGreaterThanOrEqual(lostMin)
}, 240_000)

/** Single jobs, bulk in transactions that stay open for a while, and some that are rolled back. Adds what was committed. */
async function enqueueUntil(url: string, engine: Engine, over: () => boolean, committed: number[]): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  const request = () => {
    const lane = lanes[Math.floor(Math.random() * lanes.length)] as string
    const [owner] = lane.split(':') as [string]
    const pool = Math.random() < 0.8 ? 'light' : 'heavy'
    return work({ ms: 25 }, { ...(owners.includes(owner) ? { owner } : {}), ...(Math.random() < 0.9 ? { lane } : {}), pool })
  }
  try {
    while (!over()) {
      if (Math.random() < 0.5) committed.push((await engine.enqueue(request())).id)
      else {
        await client.query('begin')
        const jobs = await engine.enqueueMany(Array.from({ length: 1 + Math.floor(Math.random() * 6) }, request), { client })
        await wait(Math.random() < 0.1 ? 400 : Math.random() * 30)
        const keep = Math.random() < 0.7
        await client.query(keep ? 'commit' : 'rollback')
        if (keep) committed.push(...jobs.map(({ id }) => Number(id)))
      }
      await wait(Math.random() * 15)
    }
  } finally {
    await client.end()
  }
}

interface Seen {
  looks: number
  /** Jobs that a killed process held. */
  lost: number
  readonly wrong: object[]
}

function watch(url: string): { readonly seen: Seen; readonly ended: Promise<void>; readonly stop: () => void } {
  const seen: Seen = { looks: 0, lost: 0, wrong: [] }
  let over = false
  return { seen, ended: look(url, seen, () => over), stop: () => void (over = true) }
}

/** Each look at the lanes is one statement, so one snapshot. */
async function look(url: string, seen: Seen, over: () => boolean): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  for (let last = false; !last; seen.looks++) {
    last = over()
    const { rows } = await client.query(`
      with running as (select lane, count(*)::int as jobs, sum(cost)::int as cost from sluice.job where worker is not null and lane <> '' group by lane)
      select coalesce(l.key, r.lane) as lane, l.in_flight, l.in_flight_cost, r.jobs, l.cap from sluice.lane l full join running r on r.lane = l.key
      where coalesce(l.in_flight, -1) <> coalesce(r.jobs, 0) or l.in_flight_cost <> coalesce(r.cost, 0) or l.in_flight > l.cap
         or (l.metered and l.in_flight > 1)
      union all
      select 'all of ann', sum(l.in_flight)::int, 0, 0, ${ownerCap} from sluice.lane l where l.owner = 'ann' having sum(l.in_flight) > ${ownerCap}`)
    seen.wrong.push(...rows)
    seen.lost = (await client.query(`select from sluice.attempt where outcome = 'lost'`)).rowCount ?? 0
    await wait(3)
  }
  await client.end()
}
