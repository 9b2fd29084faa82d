-- The duties of a process that works (beat) and of the one that leads (promote, rescue, park, prune). All of them are idempotent, and each write
-- of the leader checks its term in the same statement, so a leader that slept and wakes changes nothing.

create function sluice.leads(in_term bigint) returns boolean
language sql volatile
as $$ select exists (select from sluice.leader l where l.term = in_term and l.until > sluice.now()) $$;

-- A loose scan: one index probe per kind that has paused jobs, however many there are.
create function sluice.paused_kinds() returns setof text
language sql stable
as $$
  with recursive paused as (
    (select j.kind from sluice.job j where j.shelf = 'paused' order by j.kind limit 1)
    union all
    select (select j.kind from sluice.job j where j.shelf = 'paused' and j.kind > p.kind order by j.kind limit 1)
    from paused p where p.kind is not null)
  select kind from paused where kind is not null $$;

-- A process's heartbeat, its claim to leadership and its backstop for lost wake-ups, in one round trip. `offered_ms`: for so long jobs may have been handed over to it that it has not heard of. `known` is false when the process was
-- declared dead: whatever it holds belongs to others now.
create function sluice.beat(in_worker bigint, lease_ms integer, pools text[], unknown_kinds text[], may_lead boolean, in_running jsonb, offered_ms double precision default null,
  out known boolean, out term bigint, out leader_ms double precision, out ready text[], out turns text[], out cancel bigint[],
  out suspects boolean, out now_ms double precision, out due_ms double precision, out next_lease_ms double precision, out chores boolean,
  out watched boolean, out handed bigint[])
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  lease interval := lease_ms * interval '1 ms';
  lead sluice.leader;
  idle boolean := not exists (select from jsonb_each_text(in_running) as r where r.value::int > 0);
begin
  perform set_config('synchronous_commit', 'off', true);
  update sluice.worker w set beat_at = at, lease_until = at + lease, running = in_running where w.id = in_worker;
  known := found;
  if not known then return; end if;
  if offered_ms is not null then handed := array(select sluice.handed_to(in_worker, at - offered_ms * interval '1 ms' - interval '1 s')); end if;

  select * into lead from sluice.leader;
  if may_lead and (lead.worker = in_worker or lead.until <= at) then
    update sluice.leader l
    set term = case when l.worker = in_worker and l.until > at then l.term else l.term + 1 end, worker = in_worker, until = at + lease
    where l.worker = in_worker or l.until <= at
    returning * into lead;
    -- Somebody else was quicker: this statement saw the row before that commit.
    if not found then select * into lead from sluice.leader; end if;
  end if;
  term := case when lead.worker = in_worker and lead.until > at then lead.term end;
  -- Seconds and not times are subtracted, here and below: an end may be infinitely long ago, and before 17 PostgreSQL does not reckon with such times.
  leader_ms := greatest(extract(epoch from lead.until) - extract(epoch from at), 0) * 1000;

  -- The first of each, and not "exists": that may be answered for all pools at once, by a walk over everything that waits.
  ready := array(
    select a.asked from unnest(pools) as a(asked)
    where not exists (select from sluice.pause p where p.scope = 'pool' and p.name = a.asked)
      and coalesce(
        (select true from sluice.job j
         where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) = sluice.queue_of(a.asked, '') and j.worker is null and j.pool = a.asked and j.lane = '' and j.crashes < 2
           and j.kind <> all(unknown_kinds) and not exists (select from sluice.pause p where p.scope = 'kind' and p.name = j.kind)
         order by j.rank, j.id limit 1),
        (select true from sluice.parcel r
         where r.pool = a.asked and r.next <= r.last and r.kind <> all(unknown_kinds) and not exists (select from sluice.pause p where p.scope = 'kind' and p.name = r.kind)
           and exists (select from sluice.job j where j.id between r.next and r.last and j.parcel = r.id and j.worker is null)
         order by r.rank, r.id limit 1)));
  turns := array(
    select a.asked from unnest(pools) as a(asked)
    where not exists (select from sluice.pause p where p.scope = 'pool' and p.name = a.asked)
      and (select true from sluice.turn t where t.pool = a.asked and t.open order by t.served_at, t.id limit 1));
  cancel := array(select j.id from sluice.job j where j.cancel_at is not null and j.worker = in_worker);
  suspects := exists (select from sluice.job j where j.crashes >= 2 and sluice.state_of(j.shelf, j.worker) = 'ready' and j.pool = any(pools)
                      and j.kind = any(array(select unnest(w.kinds) from sluice.worker w where w.id = in_worker))
                      and not exists (select from sluice.pause p where (p.scope = 'kind' and p.name = j.kind) or (p.scope = 'pool' and p.name = j.pool))
                      -- One that may not run now is nothing to make room for.
                      and not exists (select from sluice.owner o where o.name = j.owner and (sluice.owner_closed(o, at) or j.lane = ''))
                      and (j.lane = '' or exists (select from sluice.lane l left join sluice.owner o on o.name = l.owner
                                                  where l.key = j.lane and sluice.room(l, o, at) > 0 and sluice.permits(l, at) >= j.cost
                                                    and (o.cap is null or o.cap > (select sum(s.in_flight) from sluice.lane s where s.owner = o.name))))
                      -- An idle process takes it; of the busy ones, one makes room for it and the others go on.
                      and (idle or in_worker = (select min(w.id) from sluice.worker w where w.lease_until > at and not w.stopping
                                                       and w.pools ? j.pool and j.kind = any(w.kinds))));
  now_ms := date_part('epoch', at) * 1000;
  watched := exists (select from sluice.worker w where w.watching and w.id <> in_worker and w.lease_until > at);
  if term is not null then
    due_ms := least((select extract(epoch from j.run_at - at) * 1000 from sluice.job j where j.shelf = 'scheduled' and j.run_at < 'infinity' order by j.run_at limit 1),
                    (select extract(epoch from l.opens_at - at) * 1000 from sluice.lane l where l.opens_at is not null order by l.opens_at limit 1));
    next_lease_ms := (select (extract(epoch from min(w.lease_until)) - extract(epoch from at)) * 1000 from sluice.worker w where w.id <> in_worker);
    chores := exists (select from sluice.pause p where p.scope = 'kind' and not p.parked)
      or exists (select from sluice.paused_kinds() as kind where not exists (select from sluice.pause p where p.scope = 'kind' and p.name = kind))
      or exists (select from sluice.job f where f.after_key is not null
                 and not exists (select from sluice.job h where h.key = f.after_key and h.shelf is distinct from 'failed'))
      or exists (select from sluice.job j where j.crashes >= 2 and sluice.state_of(j.shelf, j.worker) = 'ready' and j.lane = '' and exists (select from sluice.owner o where o.name = j.owner))
      or sluice.parcels_are_over();
  end if;
end $$;

-- Jobs whose time has come become ready, lanes whose time has come open. Answers how many jobs, whom to wake, and in how many ms the next falls due.
create function sluice.promote(in_term bigint, batch integer, out moved integer, out topics text[], out due_ms double precision)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  at timestamptz := sluice.now();
  ready sluice.ready_job[];
begin
  moved := 0;
  if not sluice.leads(in_term) then return; end if;
  with due as (
    update sluice.job j
    set shelf = case when exists (select from sluice.pause p where p.scope = 'kind' and p.name = j.kind) then 'paused'::sluice.job_state end,
        run_at = null
    where j.id = any(array(
      select d.id from sluice.job d where d.shelf = 'scheduled' and d.run_at <= at order by d.run_at limit batch for update skip locked))
    returning j.pool, j.lane, j.rank, j.shelf)
  select count(*), array_agg(row(pool, lane, rank)::sluice.ready_job) filter (where shelf is null) into moved, ready from due;
  topics := sluice.line_up(ready);
  perform sluice.wake(topics, null);
  -- One that was due and is still here is in somebody's hand: nobody waits for it, and it is looked at again in a while.
  due_ms := least((select 250 from sluice.job j where j.shelf = 'scheduled' and j.run_at <= at limit 1),
                  (select extract(epoch from j.run_at - sluice.now()) * 1000
                   from sluice.job j where j.shelf = 'scheduled' and j.run_at > at and j.run_at < 'infinity' order by j.run_at limit 1),
                  sluice.open_lanes(in_term));
end $$;

-- Jobs of processes that are gone go back, their fence raised, so the old claim is void at once. A job that kills its host again and again is
-- caught by the count of crashes: see docs/job-lifecycle.md, "Poison". Nobody is waited for: a settle in progress wins, and the row of a process
-- whose jobs were not all to be had stays for the next round; what is met beyond that ends this one after half a second. A claim holds its process's row, so none can slip in between. There is no index on
-- `worker`, which every claim would have to write: finding the jobs of the dead means walking the queue once. `sweep` also looks for jobs whose
-- process has no row at all.
create function sluice.rescue(in_term bigint, crashes_max integer, sweep boolean, out rescued integer, out failed integer, out jobs bigint[], out dead text[],
  out topics text[])
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set lock_timeout = '500ms'
as $$
declare
  at timestamptz := sluice.now();
  expired bigint[];
  victims bigint[];
  wanted text[];
  lanes_busy text[] := '{}';
  locked bigint[];
  runs bigint[];
  free bigint[];
  canceled bigint[];
  told boolean;
  ready sluice.ready_job[];
  lanes sluice.lane_change[];
  ended sluice.run_end[];
begin
  rescued := 0;
  failed := 0;
  if not sluice.leads(in_term) then return; end if;
  expired := array(select w.id from sluice.worker w where w.lease_until <= at order by w.id for update skip locked);
  if expired = '{}' and not sweep then return; end if;
  victims := array(
    select q.id from sluice.queued q
    where q.worker is not null and (q.worker = any(expired) or (sweep and not exists (select from sluice.worker w where w.id = q.worker))));
  -- Nobody waits here: jobs of a lane that is in somebody's hand stay for the next round, and hold up no others of the dead. Owners with a cap before lanes, as everywhere.
  wanted := array(select distinct j.lane from sluice.job j where j.id = any(victims) and j.lane <> '');
  if wanted <> '{}' then lanes_busy := sluice.busy_lanes(wanted); end if;
  -- Lock, then look: a cancel that commits meanwhile must be seen by all parts of the statement below.
  locked := array(select j.id from sluice.job j where j.id = any(victims) and j.worker is not null and j.lane <> all(lanes_busy) order by j.id for update skip locked);
  -- The same for jobs whose end would be counted in a run that is in somebody's hand.
  runs := array(select j.run from sluice.job j where j.id = any(locked) and j.run is not null and (j.cancel_at is not null or j.crashes + 1 >= crashes_max));
  if runs <> '{}' then
    free := array(select r.id from sluice.run r where r.id = any(runs) order by r.id for no key update skip locked);
    locked := array(select j.id from sluice.job j
                    where j.id = any(locked) and (j.run is null or j.run = any(free) or (j.cancel_at is null and j.crashes + 1 < crashes_max)));
  end if;
  with lost as materialized (
    select j.id, j.attempt, j.worker, j.started_at, j.lane, j.cost, j.run, j.cancel_at from sluice.job j where j.id = any(locked)),
  noted as (
    insert into sluice.attempt (job, attempt, worker, started_at, ended_at, outcome, error)
    select l.id, l.attempt, l.worker, l.started_at, at, 'lost', '{"code": "WORKER_LOST", "message": "the process that ran this job is gone"}' from lost l),
  buried as (
    delete from sluice.worker w
    where w.id = any(expired)
      and not exists (select from sluice.job j where j.id = any(victims) and j.worker = w.id and j.id <> all(array(select id from lost)))
    returning w.name),
  back as (
    update sluice.job j
    set shelf = case when j.crashes + 1 >= crashes_max then 'failed'::sluice.job_state end,
        fence = j.fence + 1,
        worker = null,
        parcel = null,
        crashes = j.crashes + 1,
        (error, fingerprint) = (
          select coalesce(v.poison, j.error), case when v.poison is not null then sluice.error_fingerprint(j.kind, v.poison) end
          from (values (case when j.crashes + 1 >= crashes_max then jsonb_build_object(
            'code', 'POISON', 'message', format('%s processes died while they ran this job, the last one running nothing else', j.crashes + 1)) end)) as v(poison))
    where j.id = any(array(select id from lost)) and j.cancel_at is null
    returning j.id, j.pool, j.lane, j.rank, j.run, j.shelf, j.crashes)
  select (select count(*) from back where shelf is null), (select count(*) from back where shelf = 'failed'), array(select id from back order by id limit 100),
         (select array_agg(row(pool, lane, rank)::sluice.ready_job) from back where shelf is null),
         (select array_agg(id) from lost where cancel_at is not null),
         -- Their calls may have been made: the permits count as spent.
         (select array_agg(row(lane, 1, cost, 0, 0, 0)::sluice.lane_change) from lost where lane <> ''),
         (select array_agg(row(r.run, r.state, r.jobs)::sluice.run_end)
          from (select x.run, x.state, array_agg(x.id) as jobs
                from (select run, id, shelf as state from back where run is not null and shelf = 'failed'
                      union all select run, id, 'canceled' from lost where run is not null and cancel_at is not null) x
                group by x.run, x.state) r),
         (select pg_notify('sluice', 'suspect:') from back where shelf is null and crashes >= 2 limit 1) is not null,
         (select array_agg(name) from buried)
  into rescued, failed, jobs, ready, canceled, lanes, ended, told, dead;
  perform sluice.retire(canceled, 'canceled', null);
  topics := sluice.line_up(ready);
  if lanes is not null then perform sluice.leave_lanes(lanes, null); end if;
  if ended is not null then perform sluice.end_in_runs(ended, null); end if;
  -- A process that died between a commit and its wake-up may have left work nobody was told of.
  if topics is null and dead is not null then
    topics := array(select distinct t || k.pool from sluice.kind k, unnest(array['ready:', 'turn:']) as t);
  end if;
  perform sluice.wake(topics, null);
end $$;

-- The last word of a process that leaves in order: its row goes, so nobody waits for a lease. If it could not hand back everything, its lease ends instead, and it is
-- rescued. Lock, then look: a claim that commits meanwhile holds the row, and its job must be seen.
create function sluice.leave(in_worker bigint) returns void
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  perform from sluice.worker w where w.id = in_worker for update;
  if exists (select from sluice.queued q where q.worker = in_worker) then
    update sluice.worker w set lease_until = '-infinity' where w.id = in_worker;
    perform pg_notify('sluice', 'leader:');
  else
    delete from sluice.worker w where w.id = in_worker;
    perform pg_notify('sluice', 'worker:');
  end if;
end $$;

-- Followers whose key is free, though no settle has told them. One by one, and none is waited for: a key may be just being taken, in a transaction that somebody keeps open.
-- Its follower is looked at again with the next round, and the others do not wait with it.
create function sluice.release_missed() returns void
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off set lock_timeout = '50ms'
as $$
declare
  one text;
begin
  for one in select f.after_key from sluice.job f
             where f.after_key is not null and not exists (select from sluice.job h where h.key = f.after_key and h.shelf is distinct from 'failed')
             order by f.after_key
  loop
    begin
      perform sluice.release_followers(array[one]);
    exception
      when unique_violation then
        null;      -- somebody took the key meanwhile, and its follower waits on
      when lock_not_available then
        perform set_config('lock_timeout', '1ms', true);      -- whoever waits, waits once
    end;
  end loop;
end $$;

-- Jobs of a paused kind step aside, those of a kind that goes on come back, in batches; and what else waits for the leader's beat. Answers whether something
-- is left to do. None of it is done by the beat itself, which writes to no job: whoever holds a job, or the whole table, must not keep a process from its lease.
create function sluice.park(in_term bigint, batch integer) returns boolean
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  found_ids bigint[];
  moved integer;
  more boolean := false;
  back integer := 0;
  ready sluice.ready_job[];
  p record;
begin
  if not sluice.leads(in_term) then return false; end if;
  for p in select * from sluice.pause where scope = 'kind' and not parked loop
    found_ids := array(select q.id from sluice.queued q where q.worker is null and q.kind = p.name limit batch);
    with aside as (
      update sluice.job j set shelf = 'paused', parcel = null
      where j.id = any(array(select r.id from sluice.job r where r.id = any(found_ids) and r.shelf is null and r.worker is null for update skip locked))
      returning 1)
    select count(*) into moved from aside;
    if cardinality(found_ids) < batch then update sluice.pause q set parked = true where q.scope = 'kind' and q.name = p.name; end if;
    more := more or (cardinality(found_ids) >= batch and moved > 0);      -- if somebody holds all of these, the next beat looks again
  end loop;
  with again as (
    update sluice.job j set shelf = null
    where j.id = any(array(
      select r.id from sluice.job r
      where r.shelf = 'paused' and r.kind = any(array(
        select kind from sluice.paused_kinds() as kind where not exists (select from sluice.pause q where q.scope = 'kind' and q.name = kind)))
      limit batch for update skip locked))
    returning j.pool, j.lane, j.rank)
  select count(*), array_agg(row(pool, lane, rank)::sluice.ready_job) into back, ready from again;
  perform sluice.wake(sluice.line_up(ready), null);
  perform sluice.move_suspects();
  perform sluice.release_missed();
  more := sluice.tidy_all_parcels() or more;
  return more or back >= batch;
end $$;

-- Which days are past keeping. Detaching happens outside a transaction, so the caller does it, one by one; whatever it did not get through with
-- is here again: a day whose detaching was cut short is 'pending', one that was not dropped afterwards is 'detached'. Only its owner can do that: others call drop_day.
create function sluice.old_days(keep_days integer) returns table (parent text, partition text, phase text, owned boolean)
language sql stable
as $$
  select left(c.relname, -9), c.relname::text, case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'pending' else 'attached' end,
         pg_has_role(c.relowner, 'usage')
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  left join pg_inherits i on i.inhrelid = c.oid
  where n.nspname = 'sluice' and c.relkind = 'r' and c.relname ~ '_[0-9]{8}$'
    and exists (select from pg_class p where p.relnamespace = n.oid and p.relkind = 'p' and p.relname = left(c.relname, -9))
    and to_date(right(c.relname, 8), 'YYYYMMDD') < (sluice.now() at time zone 'UTC')::date - keep_days
  order by i.inhdetachpending desc nulls last, 2 $$;
