/**
 * "Why is this job not running?" One look at the database, then a pure decision.
 */
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import { explainHeld, explainLane } from './explain-lane.ts'
import type { Explanation, Surroundings } from './explanation.ts'
import type { Job } from './job-store.ts'
import { findJob } from './job-store.ts'
import { suspectCrashes } from './lifecycle.ts'

export const aheadMax = 1_000
/** Workers of the command line never lead, and an engine leads unless it was told not to. */
const startLeader = 'Start `sluice scheduler`, `sluice up` or an engine without `lead: false`'

export async function explainJob(on: Executor, id: number): Promise<Explanation> {
  const job = await findJob(on, id)
  return job
    ? explain(job, await look(on, job))
    : {
        reason: 'unknown',
        text: `There is no job ${id}; its transaction may not have committed, or it was pruned from the ledger.`,
      }
}

async function look(on: Executor, job: Job): Promise<Surroundings> {
  const { rows } = await on.query<Surroundings>(sql`
    select sluice.now() as now,
           (select until from sluice.leader) as "leaderUntil",
           coalesce((select after_key is not null from sluice.job where id = ${job.id}), false) as "followsKey",
           not exists (select from sluice.worker w where w.id = ${job.worker} and w.lease_until > sluice.now()) as "workerLost",
           (select jsonb_build_object('reason', reason) from sluice.pause where scope = 'kind' and name = ${job.kind}) as "kindPaused",
           (select jsonb_build_object('reason', reason) from sluice.pause where scope = 'pool' and name = ${job.pool}) as "poolPaused",
           (select sluice.held_by(j.xmax) from sluice.job j where j.id = ${job.id}) as "heldBy",
           (select jsonb_build_object('heldBy', sluice.held_by(l.xmax), 'paused', l.paused, 'holdUntil', l.hold_until, 'brokenUntil', l.broken_until, 'inFlight', l.in_flight, 'cap', l.cap,
                                      'metered', l.metered, 'resetAt', l.reset_at, 'cost', j.cost,
                                      'permits', case when l.reset_at > sluice.now() then l.remaining - l.budget_floor end)
            from sluice.lane l join sluice.job j on j.id = ${job.id} where l.key = ${job.lane}) as lane,
           (select jsonb_build_object('heldBy', sluice.held_by(o.xmax), 'name', o.name, 'paused', o.paused, 'holdUntil', o.hold_until, 'cap', o.cap,
                                      'inFlight', (select coalesce(sum(s.in_flight), 0) from sluice.lane s where s.owner = o.name))
            from sluice.owner o where o.name = coalesce((select l.owner from sluice.lane l where l.key = ${job.lane}), ${job.owner})) as owner,
           coalesce((select jsonb_agg(jsonb_build_object(
               'name', w.name, 'knowsKind', ${job.kind} = any(w.kinds), 'max', w.pools -> ${job.pool} -> 'max',
               'running', coalesce((w.running ->> ${job.pool})::int, 0),
               'alone', (select min(s.id) from sluice.job s where s.crashes >= ${suspectCrashes} and s.worker = w.id and s.id <> ${job.id})))
             from sluice.worker w
             where w.lease_until > sluice.now() and not w.stopping and w.pools ? ${job.pool}), '[]') as workers,
           (select count(*)::int
            from sluice.job me
            cross join lateral (
              select from sluice.queued a
              where sluice.queue_of(a.pool, a.lane) = sluice.queue_of(me.pool, me.lane)
                and a.worker is null and a.pool = me.pool and a.lane = me.lane and a.rank <= me.rank and (a.rank, a.id) < (me.rank, me.id)
              limit ${aheadMax}) x
            where me.id = ${job.id}) as ahead`)
  return rows[0] as Surroundings
}

export function explain(job: Job, around: Surroundings): Explanation {
  switch (job.state) {
    case 'succeeded':
    case 'canceled':
      return { reason: 'finished', text: `It is finished: ${job.state} at ${job.finishedAt?.toISOString()}.` }
    case 'failed':
      if (job.finishedAt) return { reason: 'finished', text: `It failed and was discarded at ${job.finishedAt.toISOString()}.` }
      return {
        reason: 'failed',
        text: `It failed after ${job.attempt === 1 ? 'one attempt' : `${job.attempt} attempts`}: ${sentence(job.error?.message ?? 'no reason given')} Retry or discard it.`,
      }
    case 'running':
      if (around.workerLost) return explainLost(job, around)
      return job.cancelRequestedAt
        ? { reason: 'stopping', text: 'It runs and was asked to stop; it ends when its handler gives up.' }
        : { reason: 'running', text: `It runs on worker ${job.worker} since ${job.startedAt?.toISOString()}.` }
    case 'scheduled':
      return explainScheduled(job, around)
    case 'paused':
      return !around.kindPaused && around.heldBy
        ? explainHeld('The job', around.heldBy)
        : explainPause('kind', job.kind, around.kindPaused)
    case 'ready':
      return explainReady(job, around)
  }
}

function explainLost({ worker }: Job, around: Surroundings): Explanation {
  const next =
    around.leaderUntil > around.now
      ? 'the leader puts it back to work within moments'
      : `and no process leads. ${startLeader}; it puts the job back to work within seconds`
  return { reason: 'waiting for leader', text: `It ran on worker ${worker}, which is lost; ${next}.` }
}

function explainScheduled(job: Job, around: Surroundings): Explanation {
  if (around.followsKey)
    return { reason: 'waiting for another job', text: 'It runs again after the job with the same key that runs now.' }
  const leads = around.leaderUntil > around.now
  if (job.runAt && job.runAt > around.now)
    return {
      reason: 'not before',
      text: `It is not due before ${job.runAt.toISOString()}.${describeLast(job)}${leads ? '' : ` No process leads, so it would not start then either. ${startLeader}.`}`,
      until: job.runAt,
    }
  if (!leads)
    return {
      reason: 'waiting for leader',
      text: `It is due, and no process leads. ${startLeader}; it takes over within seconds.`,
    }
  if (around.heldBy) return explainHeld('The job', around.heldBy)
  return { reason: 'waiting for leader', text: 'It is due; the leader makes it ready within moments.' }
}

/** Why it waits to be tried again. */
function describeLast({ attempt, maxAttempts, error }: Job): string {
  return attempt > 0 && error ? ` Attempt ${attempt} of ${maxAttempts} ended with: ${sentence(error.message)}` : ''
}

function explainPause(scope: 'kind' | 'pool', name: string, pause: { reason: string | null } | null): Explanation {
  if (!pause)
    return {
      reason: 'waiting for leader',
      text: `The ${scope} ${name} was resumed; the leader brings its jobs back within moments.`,
    }
  return {
    reason: 'paused',
    text: `The ${scope} ${name} is paused${pause.reason ? `: ${pause.reason}` : ''}. Resume it to go on.`,
  }
}

function explainReady(job: Job, around: Surroundings): Explanation {
  if (around.kindPaused) return explainPause('kind', job.kind, around.kindPaused)
  if (around.poolPaused) return explainPause('pool', job.pool, around.poolPaused)
  if (around.workers.length === 0)
    return {
      reason: 'no worker for this pool',
      text: `No live process serves the pool ${job.pool}. Start a worker with this pool, or correct the name.`,
    }
  if (around.heldBy) return explainHeld('The job', around.heldBy)
  const closed = explainLane(job, around)
  if (closed) return closed
  const able = around.workers.filter((worker) => worker.knowsKind)
  if (able.length === 0)
    return {
      reason: 'no worker knows this kind',
      text: `No live process defines the kind ${job.kind}. Start one that does; until then the job waits.`,
    }
  if (job.crashes >= suspectCrashes)
    return {
      reason: 'runs alone next',
      text: `It ran in ${job.crashes} processes that died, so it waits for one that runs nothing else.`,
    }
  if (able.every(({ alone }) => alone !== null))
    return {
      reason: 'another runs alone',
      text: `${able.length === 1 ? 'The one process' : `All ${able.length} processes`} that could run it ${able.length === 1 ? 'runs' : 'run'} nothing beside job ${able[0]?.alone}, which was in processes that died; it goes on when that has ended.`,
    }
  const line = describeLine(around.ahead)
  if (able.every((worker) => worker.running >= worker.max))
    return {
      reason: 'pool full',
      text: `All slots of the pool ${job.pool} are taken in ${able.length === 1 ? 'the one process' : `all ${able.length} processes`} that could run it; ${line}.`,
    }
  return { reason: 'next in line', text: `It is ready and starts within moments; ${line}.` }
}

function describeLine(ahead: number): string {
  if (ahead === 0) return 'no other goes first'
  if (ahead === 1) return '1 job goes first'
  return ahead >= aheadMax ? `${aheadMax} or more jobs go first` : `${ahead} jobs go first`
}

/** With one full stop at its end. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
