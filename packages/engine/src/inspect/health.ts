/**
 * What a doctor looks at: the server, the schema, the clocks, the state of the hot table, and what nobody looks after. Facts only; what to do
 * about them is said where they are shown.
 */
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import type { Clock } from '../support/clock.ts'
import type { Bounded } from './bounded.ts'
import { findLeader, listWorkers, type SeenLeader } from './workers.ts'

export interface Health {
  readonly server: {
    readonly version: string
    /** As PostgreSQL counts them: 180001 for 18.1. */
    readonly number: number
    readonly startedAt: Date
    readonly connections: number
    readonly connectionsMax: number
    readonly autovacuum: boolean
  }
  /** The newest migration of each package. */
  readonly schema: readonly { readonly package: string; readonly number: number; readonly file: string }[]
  /** How far the server's clock is ahead of this process's. */
  readonly clockAheadMs: number
  /** The hot table: many dead rows beside few live ones are bloat. */
  readonly jobTable: {
    readonly live: number
    readonly dead: number
    readonly bytes: number
    readonly indexBytes: number
    readonly vacuumedAt: Date | null
  }
  /** The oldest snapshot that somebody holds open, over a second old: vacuum cannot remove what died since. */
  readonly oldestSnapshot:
    | { readonly pid: number; readonly application: string; readonly state: string; readonly ageMs: number }
    | undefined
  /** Sessions that have kept a transaction open over jobs, lanes, owners or runs, for over a second, the longest first: what they hold neither starts nor ends. */
  readonly openTransactions: readonly {
    readonly pid: number
    readonly application: string
    readonly state: string
    readonly ageMs: number
    /** What they hold rows of: job, lane, owner, run. */
    readonly over: readonly string[]
  }[]
  /** Processes whose lease is over and whose row is still there: a leader takes care of them within seconds. */
  readonly lostWorkers: readonly { readonly id: number; readonly name: string; readonly overMs: number | undefined }[]
  /** Jobs that run, as the table says, in a process that has no row, among the first 10,000 of the queue. */
  readonly orphans: Bounded
  readonly leader: SeenLeader
  /** Processes that hear wake-ups. */
  readonly listeners: number
  /** Days that the ledger has partitions for from today on; work stops without one. */
  readonly ledgerDaysAhead: number
}

const queueLookMax = 10_000
const openTransactionsMax = 5

export async function readHealth(on: Executor, clock: Clock): Promise<Health> {
  const clockAheadMs = await compareClocks(on, clock)
  const [server, schema, jobTable, oldestSnapshot, openTransactions, workers, leader, orphans, ledgerDaysAhead] =
    await Promise.all([
      readServer(on),
      readSchema(on),
      readJobTable(on),
      findOldestSnapshot(on),
      listOpenTransactions(on),
      listWorkers(on),
      findLeader(on),
      countOrphans(on),
      countDaysAhead(on),
    ])
  const { listeners, ...rest } = server
  const serverMs = clock.now() + clockAheadMs
  return {
    server: rest,
    schema,
    clockAheadMs,
    jobTable,
    oldestSnapshot,
    openTransactions,
    lostWorkers: workers
      .filter(({ state }) => state === 'lost')
      .map(({ id, name, leaseUntil }) => ({ id, name, overMs: leaseUntil ? serverMs - leaseUntil.getTime() : undefined })),
    orphans,
    leader,
    listeners,
    ledgerDaysAhead,
  }
}

/** Answers that took longer say little, so the quickest of a few counts. */
const roundTripMsMax = 100
const comparisonsMax = 5

/** The statement was answered somewhere between the two looks at our own clock. */
async function compareClocks(on: Executor, clock: Clock): Promise<number> {
  await on.query(sql`select 1`) // the connection is not what is measured
  let best = { tookMs: Number.POSITIVE_INFINITY, aheadMs: 0 }
  for (let left = comparisonsMax; left > 0 && best.tookMs > roundTripMsMax; left--) {
    const before = clock.now()
    const { rows } = await on.query<{ ms: number }>(sql`select date_part('epoch', sluice.now()) * 1000 as ms`)
    const after = clock.now()
    const tookMs = after - before
    if (tookMs < best.tookMs) best = { tookMs, aheadMs: Math.round((rows[0]?.ms ?? before) - (before + after) / 2) }
  }
  return best.aheadMs
}

async function readServer(on: Executor): Promise<Health['server'] & { listeners: number }> {
  const { rows } = await on.query<Health['server'] & { listeners: number }>(sql`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number, pg_postmaster_start_time() as "startedAt",
           (select count(*)::int from pg_stat_activity a where a.backend_type = 'client backend') as connections,
           current_setting('max_connections')::int as "connectionsMax", current_setting('autovacuum')::boolean as autovacuum,
           (select count(*)::int from pg_stat_activity a where a.datname = current_database() and a.application_name = 'sluice listen') as listeners`)
  return rows[0] as Health['server'] & { listeners: number }
}

async function readSchema(on: Executor): Promise<Health['schema']> {
  const { rows } = await on.query<Health['schema'][number]>(
    sql`select distinct on (package) package, number, file from sluice.migration order by package, number desc`,
  )
  return rows
}

async function readJobTable(on: Executor): Promise<Health['jobTable']> {
  const { rows } = await on.query<Health['jobTable']>(sql`
    select n_live_tup as live, n_dead_tup as dead, pg_relation_size(relid) as bytes, pg_indexes_size(relid) as "indexBytes",
           greatest(last_vacuum, last_autovacuum) as "vacuumedAt"
    from pg_stat_user_tables where relid = 'sluice.job'::regclass`)
  return rows[0] as Health['jobTable']
}

async function findOldestSnapshot(on: Executor): Promise<Health['oldestSnapshot']> {
  const { rows } = await on.query<NonNullable<Health['oldestSnapshot']>>(sql`
    select a.pid, coalesce(a.application_name, '') as application, coalesce(a.state, '') as state,
           date_part('epoch', clock_timestamp() - a.xact_start) * 1000 as "ageMs"
    from pg_stat_activity a
    where a.backend_xmin is not null and a.pid <> pg_backend_pid() and a.datname = current_database()
      and a.backend_type <> 'autovacuum worker' and a.xact_start < clock_timestamp() - interval '1 s'
    order by a.xact_start limit 1`)
  return rows[0]
}

/** Whoever holds a row holds a lock on its table as well, and those can be listed. An enqueue in a transaction of the caller's holds no row of others. */
async function listOpenTransactions(on: Executor): Promise<Health['openTransactions']> {
  const { rows } = await on.query<Health['openTransactions'][number]>(sql`
    select a.pid, coalesce(a.application_name, '') as application, coalesce(a.state, '') as state,
           date_part('epoch', clock_timestamp() - a.xact_start) * 1000 as "ageMs", array_agg(distinct c.relname::text order by c.relname::text) as over
    from pg_locks l join pg_class c on c.oid = l.relation join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'relation' and l.granted and a.datname = current_database() and c.relnamespace = 'sluice'::regnamespace
      and (c.relname in ('lane', 'owner', 'run') and l.mode in ('RowShareLock', 'RowExclusiveLock') or c.relname = 'job' and l.mode = 'RowShareLock')
      and a.xact_start < clock_timestamp() - interval '1 s'
    group by a.pid, a.application_name, a.state, a.xact_start
    order by a.xact_start limit ${openTransactionsMax}`)
  return rows
}

async function countOrphans(on: Executor): Promise<Bounded> {
  const { rows } = await on.query<{ jobs: number; more: boolean }>(
    sql`select jobs, more from sluice.count_orphans(${queueLookMax})`,
  )
  return { count: rows[0]?.jobs ?? 0, more: rows[0]?.more ?? false }
}

async function countDaysAhead(on: Executor): Promise<number> {
  const { rows } = await on.query<{ days: number }>(sql`
    select count(*)::int as days
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'sluice.job_ledger'::regclass and right(c.relname, 8) >= to_char(sluice.now() at time zone 'UTC', 'YYYYMMDD')`)
  return rows[0]?.days ?? 0
}
