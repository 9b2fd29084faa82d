-- Claims by id, for a dispatcher that carries ids (docs/redis.md). What it holds may be stale, doubled or wrong: whether a job may start is decided here, by
-- the rules and under the locks of the other claims. Whatever is refused stays as it is and is answered with a reason, so that the id can be dropped or kept back.

-- The jobs of `ids` that may start now, each with its permits. Of every other one the reason:
--   gone     no live job of this pool           running  somebody holds it          paused   its kind or its pool is
--   early    it falls due in wait_ms            suspect  it runs alone, elsewhere   unknown  this process has no such kind
--   owner    its owner may not go on, or it has been moved to its owner's lane      lane     no room or no permit; the clock opens it in wait_ms, if that is known
--   busy     somebody holds its row just now, or its lane, or the owner of that
-- A process that was declared dead gets no answer at all.
create function sluice.claim_ids(in_pool text, in_worker bigint, ids bigint[], unknown_kinds text[])
returns table (answer text, wait_ms double precision, id bigint, fence bigint, kind text, payload text, attempt smallint, max_attempts smallint, crashes smallint,
               rank bigint, owner text, root bigint, created_ms double precision, run bigint, event bigint, priority smallint, trace text, lane text)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  stamp bigint := date_part('epoch', at) * 1000000;
  paused text[];
  closed boolean;
  owned boolean;
  keys text[];
  fresh text[];
  held text[] := '{}';
  moved sluice.ready_job[];
  got integer;
begin
  select coalesce(array_agg(p.name) filter (where p.scope = 'kind'), '{}'), coalesce(bool_or(p.scope = 'pool' and p.name = in_pool), false),
         exists (select from sluice.owner)
  into paused, closed, owned
  from sluice.pause p;
  perform from sluice.worker w where w.id = in_worker for key share;
  if not found then return; end if;
  if not owned and not closed then
    -- Most are of the open lane and free to go. What is left is looked at by the rules for all.
    return query
    update sluice.job j
    set shelf = null, attempt = j.attempt + 1, worker = in_worker, started_at = at, run_at = null,
        key = case when j.key_rule = 'start' then null else j.key end, let_go = case when j.key_rule = 'start' then j.key end, fence = greatest(j.fence + 1, stamp)
    where j.id = any(array(
      select r.id from sluice.job r
      where r.id = any(ids) and r.lane = '' and r.pool = in_pool and r.worker is null and (r.shelf is null or (r.shelf = 'scheduled' and r.run_at <= at)) and r.crashes < 2
        and r.kind <> all(paused) and r.kind <> all(unknown_kinds)
      for update skip locked))
    returning null::text, null::double precision, j.id, j.fence, j.kind, j.payload::text, j.attempt, j.max_attempts, j.crashes, j.rank, j.owner, j.root,
              date_part('epoch', j.created_at) * 1000, j.run, j.event, j.priority, j.trace, j.lane;
    get diagnostics got = row_count;
    if got > 0 then
      perform sluice.tidy_after(in_pool, ids, in_worker, at);
      ids := array(select u.id from unnest(ids) as u(id)
                   where not exists (select from sluice.job j where j.id = u.id and j.worker = in_worker and j.started_at = at));
    end if;
    if ids = '{}' then
      perform set_config('synchronous_commit', 'off', true);
      return;
    end if;
  end if;
  if owned and not closed then
    moved := sluice.into_own_lanes(array(
      select r.id from sluice.job r
      where r.id = any(ids) and sluice.state_of(r.shelf, r.worker) = 'ready' and r.pool = in_pool and r.lane = '' and exists (select from sluice.owner o where o.name = r.owner)));
    if moved is not null then perform sluice.wake(sluice.line_up(moved), null); end if;
  end if;
  if not closed then
    select array_agg(distinct j.lane) into keys from sluice.job j where j.id = any(ids) and j.lane <> '' and j.pool = in_pool and j.worker is null and (j.shelf is null or j.shelf = 'scheduled');
  end if;
  if keys is null then
    perform set_config('synchronous_commit', 'off', true);
    keys := '{}';
  else
    fresh := array(select k from unnest(keys) as k where not exists (select from sluice.lane l where l.key = k and (l.owner is not null or l.served_at > '-infinity')));
    if fresh <> '{}' then
      fresh := sluice.adopt_free_lanes(fresh);
      keys := array(select k from unnest(keys) as k where k <> all(fresh));
    end if;
    -- Then statements whose snapshots see all that earlier holders of these locks did.
    select h.had, h.owners into keys, held from sluice.hold_lanes(keys) h;
    -- As in claim_laned: a permit that was given must not be given again after a crash of the server.
    if not exists (select from sluice.lane l where l.key = any(keys) and l.metered) then perform set_config('synchronous_commit', 'off', true); end if;
  end if;

  return query
  with door as materialized (
    select l.key, l.owner, t.low, sluice.opening(l, o, at) as opens_at,
           sluice.room(l, o, at) as room, sluice.permits(l, at) as permits,
           case when o.cap is not null then o.cap - (select sum(s.in_flight) from sluice.lane s where s.owner = o.name) end as owner_room
    from sluice.lane l
    cross join lateral (select min(t.low) as low from sluice.turn t where t.lane = l.key and t.pool = in_pool) t
    left join sluice.owner o on o.name = l.owner
    -- Not those whose owner somebody holds, or got a row since the look above.
    where l.key = any(keys) and (o.name is null or o.name = any(held))),
  found as materialized (
    select j.id, j.lane, j.cost, j.rank, j.owner
    from sluice.job j
    where j.id = any(ids) and j.pool = in_pool and j.worker is null and (j.shelf is null or (j.shelf = 'scheduled' and j.run_at <= at)) and j.crashes < 2
      and not closed and j.kind <> all(paused) and j.kind <> all(unknown_kinds) and (j.lane = '' or j.lane in (select d.key from door d))
    for update skip locked),
  queued as materialized (
    select f.id, f.lane, f.cost, f.rank, d.room, d.permits, d.owner_room, d.owner,
           row_number() over w as place, sum(f.cost) over w as need
    from found f
    left join door d on d.key = f.lane
    where case when f.lane = '' then f.owner is null or not owned or not exists (select from sluice.owner o where o.name = f.owner)
               else d.key is not null and (f.owner is null or f.owner = d.owner or not owned
                                           or not exists (select from sluice.owner o where o.name = f.owner and sluice.owner_closed(o, at))) end
    window w as (partition by f.lane order by f.rank, f.id)),
  taken as materialized (
    select q.id, q.lane, q.cost
    from (select q.*, row_number() over (partition by q.owner order by q.rank, q.id) as owner_place
          from queued q where q.lane = '' or (q.place <= q.room and q.need <= q.permits)) q
    where q.lane = '' or q.owner_room is null or q.owner_place <= q.owner_room),
  left_over as materialized (
    select d.key, d.opens_at, coalesce(g.jobs, 0) as jobs, coalesce(g.cost, 0) as cost, m.rank as more,
           m.rank is not null and (d.room - coalesce(g.jobs, 0) < 1 or d.permits - coalesce(g.cost, 0) < m.cost
                                   or coalesce(d.owner_room - coalesce(sum(g.jobs) over (partition by d.owner), 0) < 1, false)) as filled
    from door d
    left join (select t.lane, array_agg(t.id) as ids, count(*)::integer as jobs, sum(t.cost)::integer as cost from taken t where t.lane <> '' group by t.lane) g
      on g.lane = d.key
    left join lateral (
      select j.rank, j.cost from sluice.job j
      where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) = sluice.queue_of(in_pool, d.key) and j.pool = in_pool and j.lane = d.key and j.rank >= d.low and j.worker is null and j.crashes < 2
        and j.id <> all(coalesce(g.ids, '{}'))
      order by j.rank, j.id limit 1) m on true),
  started as (
    update sluice.job j
    set shelf = null, attempt = j.attempt + 1, worker = in_worker, started_at = at, run_at = null,
        key = case when j.key_rule = 'start' then null else j.key end, let_go = case when j.key_rule = 'start' then j.key end, fence = greatest(j.fence + 1, stamp)
    where j.id = any(array(select id from taken))
    returning null::text, null::double precision, j.id, j.fence, j.kind, j.payload::text, j.attempt, j.max_attempts, j.crashes, j.rank, j.owner, j.root,
              date_part('epoch', j.created_at) * 1000, j.run, j.event, j.priority, j.trace, j.lane),
  counted as (
    update sluice.lane l
    set in_flight = l.in_flight + o.jobs, in_flight_cost = l.in_flight_cost + o.cost, served_at = at,
        remaining = case when l.reset_at <= at and o.jobs > 0 then null else l.remaining - o.cost end,      -- unknown from the probe on, not before
        shut = l.shut or o.filled,
        opens_at = case when o.filled then coalesce(o.opens_at, case when l.metered and l.remaining is not null and l.reset_at > at
                                                                      and l.in_flight + o.jobs < coalesce(l.cap, 2147483647) then l.reset_at end) else l.opens_at end
    from left_over o
    where l.key = any(keys) and l.key = o.key),
  served as (delete from sluice.turn t where t.lane = any(array(select key from door)) and t.pool = in_pool),
  next as (insert into sluice.turn (pool, lane, open, low, served_at) select in_pool, key, not filled, more, at from left_over where more is not null)
  select * from started
  union all
  select case when j.id is null or j.pool <> in_pool or j.shelf = 'failed' or j.run_at = 'infinity' then 'gone'
              when j.worker is not null then 'running'
              when closed or j.shelf = 'paused' or j.kind = any(paused) then 'paused'
              when j.run_at > at then 'early'
              when j.crashes >= 2 then 'suspect'
              when j.kind = any(unknown_kinds) then 'unknown'
              when not exists (select from found f where f.id = a.id) then 'busy'
              when not exists (select from queued q where q.id = a.id) then 'owner'
              else 'lane' end,
         -- As in beat: a follower's time is infinite.
         (extract(epoch from coalesce(j.run_at, o.opens_at)) - extract(epoch from at)) * 1000, a.id, null, null, null, null, null, null, null, null, null, null, null, null, null, null, j.lane
  from (select distinct u.id from unnest(ids) as u(id)) a
  left join sluice.job j on j.id = a.id
  left join left_over o on o.key = j.lane
  where a.id not in (select id from taken);
  -- The leader sleeps until the next due time; what this claim closed may open sooner.
  if keys <> '{}' then perform sluice.wake(null, sluice.next_opening(keys)); end if;
end $$;

-- What a dispatcher has to know of jobs to carry them. `due_ms` is how long it takes until a job falls due; nothing for one that is ready. Those that could not
-- be claimed anyway are left out: they are offered again when that changes.
create type sluice.offered_job as (id bigint, kind text, pool text, lane text, priority smallint, rank bigint, cost smallint, due_ms double precision);

create function sluice.offers_of(ids bigint[]) returns setof sluice.offered_job
language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  select j.id, j.kind, j.pool, j.lane, j.priority, j.rank, j.cost, extract(epoch from j.run_at - sluice.now())::double precision * 1000
  from sluice.job j
  where j.id = any(ids) and j.worker is null and (j.shelf is null or (j.shelf = 'scheduled' and j.run_at < 'infinity')) and j.crashes < 2;
end $$;

-- Those at the front of a pool's open lane, and of its lanes that are open, longest waiting first.
create function sluice.offers_in(in_pool text, batch integer, lanes_max integer, lane_batch integer) returns setof sluice.offered_job
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  at timestamptz := sluice.now();
begin
  if exists (select from sluice.pause p where p.scope = 'pool' and p.name = in_pool) then return; end if;
  return query
  select * from (
    (select j.id, j.kind, j.pool, j.lane, j.priority, j.rank, j.cost, null::double precision
     from sluice.job j
     where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) = sluice.queue_of(in_pool, '') and j.worker is null and j.pool = in_pool and j.lane = '' and j.crashes < 2
       and not exists (select from sluice.pause p where p.scope = 'kind' and p.name = j.kind)
     order by j.rank, j.id
     limit batch)
    union all
    (select m.id, p.kind, p.pool, m.lane, m.priority, p.rank, m.cost, null::double precision
     from (select p.id, p.pool, p.kind, p.rank, p.next, p.last from sluice.parcel p
           where p.pool = in_pool and p.next <= p.last and not exists (select from sluice.pause q where q.scope = 'kind' and q.name = p.kind) order by p.rank, p.id offset 0) p
     cross join lateral (select j.id, j.lane, j.priority, j.cost from sluice.job j where j.id between p.next and p.last and j.parcel = p.id and j.worker is null order by j.id) m
     limit batch)) x
  order by 6, 1
  limit batch;
  return query
  select j.id, j.kind, j.pool, j.lane, j.priority, j.rank, j.cost, null::double precision
  from (select t.lane, min(t.low) as low
        from (select t.lane, t.low from sluice.turn t where t.pool = in_pool and t.open order by t.served_at, t.id limit lanes_max) t group by t.lane) t
  left join sluice.lane l on l.key = t.lane
  cross join lateral (
    select j.id, j.kind, j.pool, j.lane, j.priority, j.rank, j.cost
    from sluice.job j
    where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) = sluice.queue_of(in_pool, t.lane) and j.worker is null and j.pool = in_pool and j.lane = t.lane and j.rank >= t.low and j.crashes < 2
      and not exists (select from sluice.pause p where p.scope = 'kind' and p.name = j.kind)
      and (j.owner is null or j.owner = l.owner or not exists (select from sluice.owner o where o.name = j.owner and sluice.owner_closed(o, at)))
    order by j.rank, j.id
    limit lane_batch) j;
end $$;

-- The front of single lanes, open or not.
create function sluice.offers_in_lanes(in_pool text, keys text[], lane_batch integer) returns setof sluice.offered_job
language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  select j.id, j.kind, j.pool, j.lane, j.priority, j.rank, j.cost, null::double precision
  from unnest(keys) as k(key)
  cross join lateral (
    select j.id, j.kind, j.pool, j.lane, j.priority, j.rank, j.cost
    from sluice.job j
    where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) = sluice.queue_of(in_pool, k.key) and j.worker is null and j.pool = in_pool and j.lane = k.key and j.crashes < 2
      and not exists (select from sluice.pause p where p.scope = 'kind' and p.name = j.kind)
    order by j.rank, j.id
    limit lane_batch) j;
end $$;

-- What a copy of these lanes has to know: what may still be given, and what is given already. `closed_ms` is how long nothing starts; infinity: until somebody
-- acts. Makes those that are not there yet, and parks the turns of those that have no room, as a claim that meets them does: who carries ids would not meet them.
create function sluice.lane_copies(keys text[])
returns table (key text, metered boolean, remaining integer, reset_ms double precision, budget_floor integer, cap integer, closed_ms double precision,
               in_flight integer, in_flight_cost integer, weight smallint)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  fresh text[] := array(select k from unnest(keys) as k where not exists (select from sluice.lane l where l.key = k));
  held text[];
  closed text[];
begin
  if fresh <> '{}' then
    -- One that is being made in a transaction that is still open has no copy yet: it is asked for again.
    perform sluice.adopt_free_lanes(fresh);
    -- As in claim_laned: whoever lets an owner go on does not see a lane that is made beside it, and would not open what is shut here.
    held := array(select o.name from sluice.owner o where o.name = any(array(select l.owner from sluice.lane l where l.key = any(fresh))) order by o.name for share skip locked);
  end if;
  closed := array(
    select l.key from sluice.lane l left join sluice.owner o on o.name = l.owner
    where l.key = any(keys) and (sluice.room(l, o, at) < 1 or sluice.permits(l, at) < 1) and exists (select from sluice.turn t where t.lane = l.key and t.open)
      and (o.name is null or l.key <> all(fresh) or o.name = any(held)));
  if closed <> '{}' then
    -- Lock, then look: whoever frees one of them before goes on, and whoever does so later opens it again. One in somebody's hand is shut by whoever comes next.
    closed := array(select l.key from sluice.lane l where l.key = any(closed) order by l.key for no key update skip locked);
    with shut as (
      update sluice.lane l
      set shut = true, opens_at = x.opens_at
      from (select k.key, sluice.opening(k, o, at) as opens_at from sluice.lane k left join sluice.owner o on o.name = k.owner
            where k.key = any(closed) and (sluice.room(k, o, at) < 1 or sluice.permits(k, at) < 1)) x
      where l.key = any(closed) and l.key = x.key
      returning l.key)
    update sluice.turn t set open = false where t.open and t.lane = any(array(select key from shut));
    perform sluice.wake(null, sluice.next_opening(closed));
  end if;
  return query
  select l.key, l.metered, l.remaining, extract(epoch from l.reset_at - at)::double precision * 1000, l.budget_floor,
         -- One that just broke lets one job through.
         least(case when l.broken_until <= at then 1 else l.cap end,
               case when o.cap is not null then l.in_flight + greatest(0, o.cap - (select sum(s.in_flight) from sluice.lane s where s.owner = o.name)) end)::integer,
         case when l.paused is not null or o.paused is not null then 'infinity'::double precision
              else extract(epoch from greatest(l.hold_until, l.broken_until, o.hold_until) - at)::double precision * 1000 end,
         l.in_flight, l.in_flight_cost, l.weight
  from sluice.lane l
  left join sluice.owner o on o.name = l.owner
  where l.key = any(keys);
end $$;

-- Two installations may share a Redis: each has a name of its own, and its keys carry it.
alter table sluice.setting add column installation text not null default md5(random()::text || clock_timestamp()::text);

-- Which dispatcher a process has, since when, and why; nothing for one that was given PostgreSQL alone.
alter table sluice.worker add column dispatch jsonb;
