/** What dead processes left is found by the looks of the leader alone, without a heartbeat: also by one that was slow, also when it is much. */
import { expect } from 'vitest'
import { eventually, test } from '../../../../../test/support/database.ts'
import { isMissing } from '../../../../../test/support/missing-servers.ts'
import { startRedis } from '../../../../../test/support/redis.ts'
import { Database } from '../../postgres/database.ts'
import { pause, systemClock } from '../../support/clock.ts'
import { silentLog } from '../../support/log.ts'
import { Carrier } from './carrier.ts'
import type { Client } from './connection.ts'
import { loadScripts, runScript } from './scripts.ts'
import { Tender, type TenderOptions } from './tender.ts'

const prefix = 'test:{light}:'
const worker = 1_000_000

/** The first look takes long, as that of a process does whose plans and pages are cold. */
function slowAtFirst(carrier: Carrier): TenderOptions['carrier'] {
  let waitMs = 600
  return {
    refill: async (pool) => {
      await pause(systemClock, waitMs)
      waitMs = 0
      return carrier.refill(pool)
    },
    bring: (ids) => carrier.bring(ids),
    ask: (pool, lanes) => carrier.ask(pool, lanes),
  }
}

interface Scene {
  readonly tender: Tender
  readonly taken: () => number
  readonly isWithLeader: () => Promise<boolean>
  /** A read that waits for the next entry, and whose reader does nothing with it. */
  readonly readAsDead: (name: string) => Promise<unknown>
  readonly runAll: () => Promise<void>
  readonly rescueAll: () => Promise<void>
}

const withTender = test.extend<{ scene: (jobs: number) => Promise<Scene> }>({
  scene: async ({ database: { url }, client }, use) => {
    const redis = await startRedis()
    const database = new Database({ url, poolMax: 2, prepare: true, log: silentLog })
    const readers: Client[] = []
    loadScripts(redis.client)
    let tender: Tender | undefined
    await use(async (jobs) => {
      for (const one of [0, 1, 2, 3, 4]) await redis.client.xgroup('CREATE', `${prefix}ready:${one}`, 'workers', '0', 'MKSTREAM')
      await client.query(`
        insert into sluice.worker (id, name, lease_until) values (${worker}, 'dead', 'infinity');
        insert into sluice.kind (name) values ('call');
        select sluice.enqueue_many((select jsonb_agg('{"kind": "call", "payload": {}}'::jsonb) from generate_series(1, ${jobs})), false)`)
      const carrier = new Carrier({ database, client: () => redis.client, prefix: () => prefix, nowMs: () => Date.now() })
      let takenOver = 0
      const made = new Tender({
        pool: 'light',
        prefix,
        holder: 'leader',
        lockMs: 60_000,
        database,
        clock: systemClock,
        client: () => redis.client,
        carrier: slowAtFirst(carrier),
        prepare: async () => {},
        refuse: async (refused) => {
          const rows = refused.flatMap(({ id, priorityClass, entry, what }) => [id, priorityClass, entry, what, ''])
          if (rows.length > 0) await runScript(redis.client, 'refuse', prefix, rows)
        },
        onTakenOver: (count) => {
          takenOver += count
        },
        onTrouble: (error) => expect.unreachable(String(error)),
      })
      tender = made
      return {
        tender: made,
        taken: () => takenOver,
        isWithLeader: async () => {
          const [row] = (await redis.client.xpending(`${prefix}ready:2`, 'workers', '-', '+', 1)) as [string, string][]
          return row?.[1] === 'leader:leader'
        },
        readAsDead: (name) => {
          const reader = redis.client.duplicate()
          readers.push(reader)
          return reader.xreadgroup('GROUP', 'workers', name, 'COUNT', 1, 'BLOCK', 60_000, 'STREAMS', `${prefix}ready:2`, '>')
        },
        runAll: async () => {
          const { rows } = await client.query('select id::int, kind, rank::text from sluice.job')
          const offered = rows.flatMap(({ id, kind, rank }) => [id, 2, 1, rank, kind, '', ''])
          await runScript(redis.client, 'offer', prefix, [100_000, ...offered])
          await redis.client.xreadgroup('GROUP', 'workers', 'dead', 'COUNT', jobs, 'STREAMS', `${prefix}ready:2`, '>')
          await client.query(`select from sluice.claim_ids('light', ${worker}, (select array_agg(id) from sluice.job), '{}')`)
        },
        rescueAll: async () => {
          await client.query(`update sluice.job set shelf = null, worker = null where worker is not null`)
        },
      }
    })
    await tender?.resign()
    for (const reader of readers) reader.disconnect()
    await redis.stop()
    await database.close()
  },
})

const onRedis = withTender.skipIf(isMissing('redis-server'))

onRedis('[D-02] what is rescued between a slow look and the next one is handed out again by these looks', async ({ scene }) => {
  const { tender, taken, isWithLeader, runAll, rescueAll } = await scene(1)
  await runAll()
  await pause(systemClock, 1_100)
  tender.start()
  // Taken into the leader's hands while it still runs, and rescued at once.
  await eventually(isWithLeader)
  await pause(systemClock, 50)
  await rescueAll()
  tender.look()
  await eventually(() => taken() === 1)
})

onRedis('[D-02] one look takes over all that dead processes left, however much it is', async ({ scene }) => {
  const { tender, taken, runAll, rescueAll } = await scene(1_700)
  await runAll()
  await rescueAll()
  await pause(systemClock, 1_100)
  tender.start()
  await eventually(() => taken() > 0)
  await tender.lookNow()
  expect(taken()).toBe(1_700)
})

onRedis(
  '[D-02] what was handed out again to processes that have died in their reads is handed out until one that lives gets it',
  async ({ scene }) => {
    const { tender, taken, runAll, rescueAll, readAsDead } = await scene(1)
    await runAll()
    await rescueAll()
    await pause(systemClock, 1_100)
    const reads = [readAsDead('one'), readAsDead('two'), readAsDead('three')]
    tender.start()
    await Promise.all(reads)
    await eventually(() => taken() === 4)
  },
)
