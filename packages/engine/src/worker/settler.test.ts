/** What a group of verdicts may hold: each job once, however often this process claimed it. */
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { claimJobs, lowestRank } from '../dispatch/postgres/claim.ts'
import { defineKind } from '../job/kind.ts'
import { registerKinds } from '../job/kind-store.ts'
import { Database } from '../postgres/database.ts'
import { systemClock } from '../support/clock.ts'
import { noProbe } from '../support/fail-point.ts'
import { silentLog } from '../support/log.ts'
import { handBack } from './judge.ts'
import { Settler } from './settler.ts'

test('[E-07] [E-09] a job that was claimed again after a crash took back its first claim has its children once', async ({
  database: { url },
  client,
}) => {
  const parent = defineKind('parent', { run: async () => {} })
  const child = defineKind('child', { run: async () => {} })
  const database = new Database({ url, poolMax: 2, prepare: true, log: silentLog })
  await registerKinds(database, [parent, child])
  await client.query(`
    insert into sluice.worker (id, name, lease_until) values (1000, 'test', 'infinity');
    select sluice.enqueue('parent')`)
  const claimOnce = () => claimJobs(database, { pool: 'light', worker: 1000, slots: 1, since: lowestRank, unknownKinds: [] })
  const [lost] = await claimOnce()
  // What the server's crash does to a claim: it was never made.
  await client.query(`update sluice.job set worker = null, attempt = 0, fence = 0`)
  const [held] = await claimOnce()
  expect(held?.id).toBe(lost?.id)
  const settler = new Settler({
    kinds: new Map(),
    database,
    clock: systemClock,
    log: silentLog,
    probe: noProbe,
    worker: () => 1000,
    payloadBytesMax: () => 1_000,
    leaseMs: 10_000,
    trusted: () => true,
    onWriteFailed: () => handBack,
    onOver: () => {},
  })
  for (const claim of [lost, held]) if (claim) settler.add({ claim, verdict: { outcome: 'done', next: [child({}), child({})] } })
  await settler.drained()
  const { rows } = await client.query(`select kind, count(*)::int from sluice.job group by kind`)
  expect(rows).toEqual([{ kind: 'child', count: 2 }])
  await database.close()
})

test('[E-07] a job whose end can never be stored is not run again and again: a lease lies between its runs', async ({
  client,
  engines,
}) => {
  const leaseMs = 1_000
  const ranMs: number[] = []
  const cursed = defineKind('cursed', { run: () => void ranMs.push(performance.now()) })
  const engine = engines({ kinds: [cursed], lease: leaseMs })
  await engine.start()
  // Neither its end nor another attempt, for a reason that does not pass by itself.
  await client.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not this one'; end $$;
    create trigger refuse before insert on sluice.job_ledger for each row execute function refuse();
    create trigger refuse before insert on sluice.attempt for each row execute function refuse()`)
  const { id } = await engine.enqueue(cursed({}))
  await eventually(() => ranMs.length >= 3)
  const gaps = ranMs.slice(1).map((ms, at) => ms - (ranMs[at] ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(leaseMs)
  await client.query('drop trigger refuse on sluice.job_ledger; drop trigger refuse on sluice.attempt')
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')
})
