/**
 * Idle: what a worker that is also the leader costs while there is nothing to do but jobs of tomorrow and schedules of later.
 *
 * Statements are those PostgreSQL counted in the worker's database, where nobody else is connected. Memory is the resident
 * set of that process at the end.
 */
import type { Bench } from '../bench.ts'
import type { FreshPlace, Ground } from '../ground.ts'
import { pause } from '../measure/clock.ts'
import { turns } from '../measure/rounds.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { prove, proveApart, proveDurable, proveFuture } from '../proof.ts'
import { within } from '../servers/postgres.ts'
import { futureJobs } from './future-jobs.ts'

const futureCount = 10_000
const scheduleCount = 2
const settleDownMs = 4_000

export const idleBench: Bench = {
  about: 'statements a minute of an idle worker that is also the leader, with future jobs and schedules present',
  needsRedis: false,
  headline: { figure: 'statementsPerMinute', unit: 'statements/min' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const idleMs = quick ? 20_000 : 60_000
    const tallies = { statements: new Tally(), claims: new Tally(), rss: new Tally() }
    for (const { round } of turns([{ name: 'sluice' }], { ...plan, rounds: quick ? 1 : 3 })) {
      const place = await ground.preparedPlace('sluice default')
      await within(place.databaseUrl, (client) => client.query(futureJobs, [futureCount]))
      await place.settle()
      const figures = await watchIdle(ground, place, idleMs)
      await place.drop()
      tallies.statements.add('sluice', figures.statementsPerMinute)
      tallies.claims.add('sluice', figures.claimStatements)
      tallies.rss.add('sluice', figures.idleRssMb)
      report({ round, contender: 'sluice', figures: { ...figures, futureJobs: futureCount, schedules: scheduleCount } })
    }
    return {
      statementsPerMinute: tallies.statements.median('sluice'),
      claimStatements: tallies.claims.median('sluice'),
      idleRssMb: tallies.rss.median('sluice'),
      proof,
    }
  },
}

async function watchIdle(ground: Ground, place: FreshPlace, idleMs: number) {
  const leads = Promise.withResolvers<void>()
  const memory = Promise.withResolvers<{ rssBytes: number }>()
  const worker = startChild('idle', { databaseUrl: place.databaseUrl }, (message) => {
    if (message === 'leads') leads.resolve()
    else memory.resolve(message as { rssBytes: number })
  })
  await Promise.race([leads.promise, worker.result])
  await proveNothingDue(place)
  await pause(settleDownMs)
  await ground.postgres.ask('select pg_stat_statements_reset()')
  await pause(idleMs)
  const counted = await statementsIn(ground, place)
  await proveNothingDue(place)
  worker.tell('memory')
  const { rssBytes } = await memory.promise
  worker.tell('stop')
  const { pid } = await worker.result
  proveApart('the worker', [pid])
  prove(counted.length > 0, 'statements are counted: a heartbeat at least')
  const calls = (those: typeof counted) => those.reduce((sum, { calls }) => sum + calls, 0)
  return {
    statementsPerMinute: (calls(counted) * 60_000) / idleMs,
    claimStatements: calls(counted.filter(({ query }) => /sluice\.(?:claim|promote)/.test(query))),
    idleRssMb: rssBytes / 1024 / 1024,
    statements: counted.map(({ query, calls }) => `${calls} × ${query.replaceAll(/\s+/g, ' ').slice(0, 60)}`).join('; '),
    pid,
  }
}

/** Jobs and schedules are there, all of them still to come; no schedule has fired or left out a fire, and no job has run. */
async function proveNothingDue({ database }: FreshPlace): Promise<void> {
  await proveFuture(database, futureCount)
  const { rows } = await within(database.url, (client) =>
    client.query<{ schedules: number; waiting: number; fires: number; jobs: number; ran: number }>(
      `select count(*)::int as schedules,
              count(*) filter (where next_at > sluice.now() and paused_at is null and error is null)::int as waiting,
              coalesce(sum(fired + skipped), 0)::int as fires,
              (select count(*)::int from sluice.job) as jobs,
              (select count(*)::int from sluice.job_ledger) as ran
       from sluice.schedule`,
    ),
  )
  const { schedules, waiting, fires, jobs, ran } = rows[0] ?? {}
  const idle = schedules === scheduleCount && waiting === scheduleCount && fires === 0 && jobs === futureCount && ran === 0
  prove(idle, `${scheduleCount} schedules wait for their time, none has fired and no job has run (${JSON.stringify(rows[0])})`)
}

const statementsIn = (ground: Ground, { database }: FreshPlace) =>
  ground.postgres.ask<{ query: string; calls: number }>(
    `select s.query, s.calls::int as calls
     from pg_stat_statements s join pg_database d on d.oid = s.dbid
     where d.datname = $1
     order by s.calls desc`,
    [database.name],
  )
