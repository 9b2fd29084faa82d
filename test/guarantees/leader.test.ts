/**
 * One process at a time does the upkeep. Each change of hands raises the term, every write of the upkeep carries it, and a leader that was
 * asleep finds its term old.
 */
import { defineKind } from '@sluice/engine'
import type pg from 'pg'
import { expect } from 'vitest'
import { eventually } from '../support/database.ts'
import { lateness } from '../support/lateness.ts'
import { type Program, test } from '../support/processes.ts'

const lease = '1s'
const leaseMs = 1_000
/** What a handover may take beyond the lease, and beyond what a plain timer is late. */
const slackMs = 5_000
const tick = defineKind('tick', { run: () => {} })

test('[E-19] two processes never lead at one time, and a leader asleep is replaced within seconds', async ({
  client,
  program,
}) => {
  const candidates = [1, 2, 3].map(() => program('leader-candidate', { lease }))
  for (const one of candidates) await one.hears('worker')
  const terms: number[] = []
  for (let round = 0; round < 3; round++) {
    const { sleeper, term } = await eventually(async () => {
      const { pid, term } = await leader(client)
      const sleeper = candidates.find((one) => one.pid === pid)
      // The table knows it first: one that falls asleep before the answer is there has never led.
      return sleeper && begunBy(sleeper) > stretchesOf(sleeper).length && { sleeper, term }
    })
    terms.push(term)
    const [stretches, sleepsMs, timer] = [stretchesOf(sleeper).length, performance.now(), lateness(leaseMs)]
    sleeper.signal('SIGSTOP')
    await eventually(async () => (await leader(client)).term > term)
    expect(performance.now() - sleepsMs - leaseMs - (await timer)).toBeLessThan(slackMs)
    // Awake, it sees that its time is over; it may lead once more, in its turn.
    sleeper.signal('SIGCONT')
    await eventually(() => stretchesOf(sleeper).length > stretches)
  }
  terms.push((await leader(client)).term)
  // Whoever came last knows it by now.
  await eventually(() => candidates.reduce((sum, one) => sum + begunBy(one), 0) >= 4)
  expect(terms).toEqual([...new Set(terms)].toSorted((a, b) => a - b))

  for (const one of candidates) one.tell({ report: true })
  for (const one of candidates) await one.hears('reported')
  const stretches = candidates.flatMap(stretchesOf).toSorted((a, b) => a.fromMs - b.fromMs)
  expect(stretches.length).toBeGreaterThanOrEqual(4)
  for (const [index, { toMs }] of stretches.entries())
    expect(stretches[index + 1]?.fromMs ?? Infinity).toBeGreaterThanOrEqual(toMs)
})

test('[E-19] a leader asleep writes nothing when it wakes', async ({ database, client, engines, program }) => {
  await noteWriters(client)
  const lease = '2s'
  const sleeper = program('leader-candidate', {
    lease,
    database: `${database.url}&options=${encodeURIComponent('-c test.who=sleeper')}`,
  })
  const { worker } = await sleeper.hears('worker')
  await sleeper.hears('leadsSince')
  // Long enough that the sleeper cannot come to lead again, however slow the heir is.
  const heir = engines({ kinds: [tick], lease: '60s' })
  await heir.start()
  // Its timer for this job runs out while it sleeps, so on waking it has work that it believes to be its own.
  const job = await heir.enqueue(tick({}, { delay: '500ms' }))
  await heir.enqueue(tick({}, { delay: '1h' }))
  sleeper.signal('SIGSTOP')
  await eventually(async () => (await heir.find(job.id))?.state === 'succeeded')
  // Where Redis dispatches, the job does not wait for a leader, and the heir takes office with its next heartbeat.
  await eventually(async () => (await leader(client)).worker === heir.status().worker, 90_000)

  const before = (await client.query('select from writer')).rows.length
  sleeper.signal('SIGCONT')
  await sleeper.hears('led')
  await eventually(async () => {
    const { rows } = await client.query('select from sluice.worker where id not in ($1, $2)', [worker, heir.status().worker])
    return rows.length === 1
  })
  const { rows } = await client.query('select who, what from writer order by id offset $1', [before])
  expect(rows.filter(({ who }) => who === 'sleeper')).toEqual([])
  expect(await leader(client)).toMatchObject({ worker: heir.status().worker })
})

test('[E-19] what a leader of an old term sends changes nothing', async ({ client, engines }) => {
  const engine = engines({ kinds: [tick] })
  await engine.enqueueMany([tick({}), tick({}, { delay: '1ms' }), tick({})])
  await client.query(`
    insert into sluice.worker (id, name, lease_until) values (2, 'leads', 'infinity'), (3, 'dead', '-infinity');
    update sluice.job set worker = 3 where id = 3;
    update sluice.leader set term = 2, worker = 2, until = 'infinity'`)
  await engine.pause({ scope: 'kind', name: 'tick' })

  const duties = (term: number) => [
    `select * from sluice.promote(${term}, 100)`,
    `select * from sluice.rescue(${term}, 3, true)`,
    `select * from sluice.park(${term}, 100)`,
  ]
  const before = await everything(client)
  for (const duty of duties(1)) {
    await client.query(duty)
    expect(await everything(client), duty).toEqual(before)
  }
  // The very same calls of the one that leads do their work.
  for (const duty of duties(2)) {
    const seen = await everything(client)
    await client.query(duty)
    expect(await everything(client), duty).not.toEqual(seen)
  }
})

test('[E-19] a term that nobody renewed is over, even if nobody else took it', async ({ client, engines }) => {
  const engine = engines({ kinds: [tick] })
  await engine.enqueue(tick({}, { delay: '1ms' }))
  const promote = 'select moved from sluice.promote(1, 100)'
  await client.query(`update sluice.leader set term = 1, worker = 1, until = sluice.now() + interval '1 hour'`)
  await client.query(`select set_config('sluice.clock_offset', '2 hours', false)`)
  expect((await client.query(promote)).rows).toEqual([{ moved: 0 }])
  await client.query(`select set_config('sluice.clock_offset', '30 minutes', false)`)
  expect((await client.query(promote)).rows).toEqual([{ moved: 1 }])
})

test('[E-19] [E-11] delayed jobs run although the leader was killed', async ({ client, engines, program }) => {
  const victim = program('leader-candidate', { lease })
  await victim.hears('leadsSince')
  // Its own heartbeats are 7.5 s apart: what is earlier is owed to its timers.
  const heir = engines({ kinds: [tick], lease: '10s' })
  await heir.start()
  const enqueuedMs = performance.now()
  const [soon, later] = await heir.enqueueMany([tick({}, { delay: '200ms' }), tick({}, { delay: '2500ms' })])
  const dueTimer = lateness(2_500)
  victim.signal('SIGKILL')
  await victim.ended
  const [killedMs, leaseTimer] = [performance.now(), lateness(leaseMs)]

  const lateMs = async (id: number): Promise<number> => {
    await eventually(async () => (await heir.find(id))?.state === 'succeeded')
    const { rows } = await client.query(
      `select extract(epoch from started_at - created_at)::float8 * 1000 as ms from sluice.job_ledger where id = $1`,
      [id],
    )
    return rows[0].ms as number
  }
  // The first falls due while nobody leads and waits for the lease at most; the second falls due under the heir, who is on time.
  const waitedMs = await lateMs(soon!.id)
  expect(waitedMs).toBeGreaterThanOrEqual(200)
  expect(waitedMs - (killedMs - enqueuedMs) - leaseMs - (await leaseTimer)).toBeLessThan(slackMs)
  const onTimeMs = await lateMs(later!.id)
  expect(onTimeMs).toBeGreaterThanOrEqual(2_500)
  expect(onTimeMs - 2_500 - (await dueTimer)).toBeLessThan(slackMs)
})

/** When it led, as it saw it itself. */
function stretchesOf({ said }: Program): { fromMs: number; toMs: number }[] {
  return said.flatMap(({ led }) => (led ? [led as { fromMs: number; toMs: number }] : []))
}

/** How often it said that it began to lead. */
const begunBy = ({ said }: Program): number => said.filter(({ leadsSince }) => leadsSince).length

async function leader(client: pg.Client): Promise<{ worker: number; term: number; pid: number | null }> {
  const { rows } = await client.query(
    `select l.worker::int, l.term::int, split_part(w.name, ':', 2)::int as pid from sluice.leader l left join sluice.worker w on w.id = l.worker`,
  )
  return rows[0]
}

/** Everything that upkeep changes. */
async function everything(client: pg.Client): Promise<unknown> {
  const { rows } = await client.query(`
    select (select json_agg(j order by j.id) from sluice.job j) as jobs, (select json_agg(w order by w.id) from sluice.worker w) as workers,
           (select json_agg(a) from sluice.attempt a) as attempts, (select json_agg(p) from sluice.pause p) as pauses`)
  return rows[0]
}

/** Notes who writes to the tables that upkeep writes to. A process is told by a setting in its address. */
async function noteWriters(client: pg.Client): Promise<void> {
  await client.query(`
    create table writer (id serial, who text, what text);
    create function note_writer() returns trigger language plpgsql as $$
    begin
      insert into writer (who, what) values (current_setting('test.who', true), tg_op || ' ' || tg_table_name);
      return null;
    end $$`)
  for (const table of ['job', 'job_ledger', 'attempt', 'leader', 'pause', 'key_window'])
    await client.query(`create trigger note_writer after insert or update or delete on sluice.${table}
                        for each row execute function note_writer()`)
}
