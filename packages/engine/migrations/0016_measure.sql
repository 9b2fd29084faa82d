-- What metrics are read from: one look, bounded however much there is. Every count ends at `counted_max`: a number that reaches it means "at least so many".
-- The same planner settings as in 0006, for the same reason.

-- Why nothing of a shut lane starts: the first reason that holds.
create function sluice.shut_because(l sluice.lane, o sluice.owner, at timestamptz) returns text
language sql immutable
as $$
  select case when l.paused is not null or o.paused is not null then 'paused'
              when l.hold_until > at or o.hold_until > at then 'held'
              when l.broken_until is not null then 'broken'
              when sluice.permits(l, at) < 1 then 'spent'
              else 'full' end $$;

create function sluice.measure(counted_max integer) returns jsonb
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  at timestamptz := sluice.now();
  at_ms double precision := date_part('epoch', at) * 1000;
  step_ms bigint := (select priority_step_ms from sluice.setting);
  answer jsonb;
begin
  with pools as (
    select k.pool from sluice.kind k
    union select key from sluice.worker w, jsonb_object_keys(w.pools) as key),
  -- Ready jobs and those that run lie together; past the limit, what runs is what the workers said at their last beat.
  queued as (
    select p.pool, coalesce(q.ready, 0) as ready, coalesce(q.oldest_ready_ms, 0) as oldest_ready_ms, coalesce(q.oldest_running_ms, 0) as oldest_running_ms,
           case when q.looked < counted_max then q.running
                else greatest(q.running, (select sum((w.running ->> p.pool)::integer) from sluice.worker w)) end as running
    from pools p
    cross join lateral (
      select count(*) as looked, count(*) filter (where j.worker is null) as ready, count(*) filter (where j.worker is not null) as running,
             greatest(max(at_ms - j.rank - j.priority * step_ms) filter (where j.worker is null),
                      (select at_ms - m.rank - m.priority * step_ms from sluice.first_in_parcels(p.pool) m)) as oldest_ready_ms,
             max(at_ms - date_part('epoch', j.started_at) * 1000) filter (where j.worker is not null) as oldest_running_ms
      from (select j.worker, j.rank, j.priority, j.started_at from sluice.queued j
            where sluice.queue_of(j.pool, j.lane) between sluice.pool_from(p.pool) and sluice.pool_to(p.pool) and j.pool = p.pool
            limit counted_max) j) q),
  shelved as (
    (select 'scheduled' as state, j.pool, j.kind, j.attempt from sluice.job j where j.shelf = 'scheduled' order by j.run_at limit counted_max)
    union all (select 'failed', j.pool, j.kind, j.attempt from sluice.job j where j.shelf = 'failed' order by j.id limit counted_max)
    union all (select 'paused', j.pool, j.kind, j.attempt from sluice.job j where j.shelf = 'paused' order by j.kind, j.id limit counted_max)),
  shut as (
    select sluice.shut_because(l, o, at) as reason
    from (select l from sluice.lane l where l.shut order by l.key limit counted_max) x(l)
    left join sluice.owner o on o.name = (x.l).owner)
  select jsonb_build_object(
    'jobs', (select jsonb_agg(x) from (
               select pool, 'ready' as state, ready as jobs from queued union all select pool, 'running', running from queued
               union all select p.pool, s.state, (select count(*) from shelved h where h.pool = p.pool and h.state = s.state)
               from pools p, (values ('scheduled'), ('failed'), ('paused')) as s(state)) x),
    'ages', (select jsonb_agg(jsonb_build_object('pool', pool, 'ready_ms', greatest(oldest_ready_ms, 0), 'running_ms', greatest(oldest_running_ms, 0))) from queued),
    'retrying', (select jsonb_object_agg(kind, jobs) from (select kind, count(*) as jobs from shelved where state = 'scheduled' and attempt > 0 group by kind) x),
    'lanes', (select jsonb_object_agg(reason, lanes) from (select reason, count(*) as lanes from shut group by reason) x),
    'runs', (select jsonb_object_agg(state, runs) from (
               select r.state, count(*) as runs
               from (select r.state from sluice.run r where r.state in ('created', 'running', 'finalizing') order by r.kind limit counted_max) r group by r.state) x),
    'workers', (select count(*) from sluice.worker w where w.lease_until > at),
    'leads', (select l.until > at from sluice.leader l),
    'term', (select l.term from sluice.leader l),
    'schedule_late_ms', (select greatest(date_part('epoch', at - min(s.next_at)) * 1000, 0) from sluice.schedule s where s.paused_at is null),
    'oldest_snapshot_ms', (select max(date_part('epoch', clock_timestamp() - coalesce(a.xact_start, a.query_start)) * 1000) from pg_stat_activity a
                           where a.datname = current_database() and a.backend_xmin is not null and a.pid <> pg_backend_pid()),
    'dead_rows', (select s.n_dead_tup from pg_stat_user_tables s where s.relid = 'sluice.job'::regclass),
    'table_bytes', pg_relation_size('sluice.job'))
  into answer;
  return answer;
end $$;
