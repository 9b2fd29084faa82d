/**
 * Forgets what the collector remembers of its own runs and switches, as the engine forgets finished jobs. What decides how the next run reads stays, however old:
 * a body of data keeps its newest run, the last one by GraphQL and the first by REST after it; everybody keeps the newest switch, and one that is watched.
 */
import { defineKind, type Executor } from '@sluice/engine'
import sql from 'sql-template-tag'
import { z } from 'zod'
import type { Services } from '../walk/workshop.ts'

const batchRows = 1_000

export const prune = defineKind('collector.prune', {
  payload: z.object({}),
  async run({ log, signal }, { collector: { engine, settings } }: Services): Promise<void> {
    const runs = await inBatches(() => pruneRuns(engine, settings.keepDays), signal)
    const switches = await inBatches(() => pruneSwitches(engine, settings.keepDays), signal)
    if (runs + switches > 0) log('forgotten', { runs, switches })
  },
})

async function inBatches(forget: () => Promise<number>, signal: AbortSignal): Promise<number> {
  let gone = 0
  for (;;) {
    signal.throwIfAborted()
    const rows = await forget()
    gone += rows
    if (rows < batchRows) return gone
  }
}

async function pruneRuns(on: Executor, keepDays: number): Promise<number> {
  const { rows } = await on.query(sql`
    delete from collector.run
    where run = any(array(
      select r.run
      from collector.run r
      left join collector.collection c on c.id = r.collection_id
      left join lateral (
        select max(k.run) as newest, max(k.run) filter (where k.strategy = 'graphql' and k.failed = 0) as rich
        from collector.run k where k.collection_id = c.id) k on true
      where r.planned_at < sluice.now() - ${keepDays} * interval '1 day'
        and r.run is distinct from k.newest
        and r.run is distinct from k.rich
        and r.run is distinct from (
          select min(p.run) from collector.run p
          where p.collection_id = c.id and p.strategy = 'rest' and p.run > coalesce(k.rich, 0))
        and not exists (select from collector.switch s where s.id = r.watched and s.state = 'watching')
        and not exists (select from sluice.run s where s.id = r.run and s.finished_at is null)
      order by r.planned_at
      limit ${batchRows}))
    returning run`)
  return rows.length
}

async function pruneSwitches(on: Executor, keepDays: number): Promise<number> {
  const { rows } = await on.query(sql`
    delete from collector.switch
    where id = any(array(
      select s.id
      from collector.switch s
      where s.settled_at < sluice.now() - ${keepDays} * interval '1 day'
        and s.id < (select max(n.id) from collector.switch n where coalesce(n.user_id, 0) = coalesce(s.user_id, 0))
      order by s.id
      limit ${batchRows}))
    returning id`)
  return rows.length
}
