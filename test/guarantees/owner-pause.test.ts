/**
 * Pausing an owner stops all of its jobs at once, in every process: in its lanes, in lanes it shares with others, and without a lane. Times
 * are the database's, which also stamps the start of every claim.
 */
import type pg from 'pg'
import { expect } from 'vitest'
import { laneKinds, work } from '../programs/lane-kinds.ts'
import { effectTable } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { test } from '../support/processes.ts'

const pools = { light: { core: 10, max: 10 } }
const lanes = ['ann:core', 'ann:graphql', 'shared', undefined]
/** How many jobs of each owner wait, so that there is something to start however long we look away. */
const supply = 600

const now = async (client: pg.Client): Promise<string> =>
  (await client.query<{ at: string }>('select clock_timestamp()::text as at')).rows[0]!.at

/** Jobs of the owner that a claim took in between. */
async function startedBetween(client: pg.Client, owner: string, from: string, to: string): Promise<number> {
  const { rowCount } = await client.query(
    `select id from sluice.job where owner = $1 and started_at > $2::timestamptz and started_at < $3::timestamptz
     union all select id from sluice.job_ledger where owner = $1 and started_at > $2::timestamptz and started_at < $3::timestamptz`,
    [owner, from, to],
  )
  return rowCount ?? 0
}

test('[E-21] once the pause of an owner has committed, no process starts a job of its own, and those of others go on', async ({
  client,
  engines,
  program,
}) => {
  await client.query(effectTable)
  const engine = engines({ kinds: laneKinds })
  const workers = [1, 2].map(() => program('lane-worker', { pools, lease: '30s' }))
  await Promise.all(workers.map((worker) => worker.hears('worker')))
  let jobs = 0
  const refill = async (): Promise<void> => {
    for (const owner of ['ann', 'bob']) {
      // Whatever is in ann's own lanes waits with ann, whoever it belongs to.
      const free = `select from sluice.job where owner = $1 and lane not like 'ann:%'`
      if (((await client.query(free, [owner])).rowCount ?? 0) > supply / 4) continue
      const more = Array.from({ length: supply }, (_, n) => {
        const lane = lanes[n % lanes.length]
        return work({ ms: 10 }, { owner, ...(lane === undefined ? {} : { lane }) })
      })
      await engine.enqueueMany(more)
      jobs += more.length
    }
  }
  /** Resolves when more than twenty of its jobs have begun since. */
  const begins = (owner: string, since: string) =>
    eventually(async () => {
      await refill()
      return (await startedBetween(client, owner, since, await now(client))) > 20
    }, 60_000)

  const began = await now(client)
  let [early, others] = [0, 0]
  for (let round = 0; round < 8; round++) {
    const resumed = await now(client)
    await begins('ann', resumed)
    await engine.pause({ scope: 'owner', name: 'ann' }, 'token revoked')
    const paused = await now(client)
    await begins('bob', paused)
    const looked = await now(client)
    early += await startedBetween(client, 'ann', paused, looked)
    others += await startedBetween(client, 'bob', paused, looked)
    await engine.resume({ scope: 'owner', name: 'ann' })
  }
  const { rows } = await client.query(`select count(distinct worker)::int as workers from sluice.job_ledger where owner = 'ann'`)
  console.log(`owner paused 8 times: ${JSON.stringify({ early, others, ...rows[0] })}`)
  expect(early).toBe(0)
  expect(rows[0].workers).toBe(2)
  expect(await startedBetween(client, 'ann', began, await now(client))).toBeGreaterThan(100)
  // Nothing was forgotten.
  await eventually(async () => (await client.query('select from sluice.job')).rowCount === 0, 90_000)
  expect((await client.query(`select from sluice.job_ledger where state = 'succeeded'`)).rowCount).toBe(jobs)
}, 240_000)
