-- Taking jobs out of lanes: one call, two looks. docs/lanes.md tells the protocol and what broke simpler ones.
-- Fair however few slots are free: a lane moves on by what it got over its weight, and whoever is least far goes first, of those the one that waited longest: a
-- newcomer. A lane that was passed over for want of slots goes on waiting; without that, the first of sixteen got every single slot.

-- Jobs of lanes that count nothing: no budget, no cap, no breaker, nobody who holds or pauses them. Each gets its share and there is nothing to weigh against each other, which
-- is half the work of the careful look below. The caller holds the lanes and pins the planner. `hindmost` and `foremost` are the least and the most progress in view.
create function sluice.take_plain(in_pool text, in_worker bigint, wanted integer, keys text[], weights double precision, hindmost double precision,
  foremost double precision, behind double precision, skip text[], at timestamptz)
returns table (again boolean, moved boolean, id bigint, fence bigint, kind text, payload text, attempt smallint, max_attempts smallint, crashes smallint,
               rank bigint, owner text, root bigint, created_ms double precision, lane text, run bigint, event bigint, priority smallint, trace text)
language plpgsql
as $$
#variable_conflict use_column
declare
  stamp bigint := date_part('epoch', at) * 1000000;
begin
  return query
  with door as materialized (
    select l.key, l.owner, l.weight, t.low, ceil(wanted * l.weight / weights)::integer as share, greatest(coalesce(l.progress, hindmost, 0), foremost - 1000) as progress
    from sluice.lane l
    cross join lateral (select min(t.low) as low from sluice.turn t where t.lane = l.key and t.pool = in_pool) t
    where l.key = any(keys)),
  taken as materialized (
    select j.place
    from door d
    cross join lateral (
      select j.ctid as place from sluice.job j
      where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) = sluice.queue_of(in_pool, d.key) and j.pool = in_pool and j.lane = d.key and j.rank >= d.low and j.worker is null and j.crashes < 2 and j.kind <> all(skip)
        and (j.owner is null or j.owner = d.owner or not exists (select from sluice.owner o where o.name = j.owner and sluice.owner_closed(o, at)))
      order by j.rank, j.id
      limit greatest(least(d.share, ceil((behind - d.progress) * d.weight)::integer + d.share), 0)
      for update skip locked) j),
  -- By their places, because ids of a lane lie apart and each would be a walk down the index. Somebody may have changed a job between our snapshot and our lock:
  -- it lies elsewhere now and is not started, so whatever follows counts by what was.
  started as (
    update sluice.job j
    set attempt = j.attempt + 1, worker = in_worker, started_at = at, key = case when j.key_rule = 'start' then null else j.key end, let_go = case when j.key_rule = 'start' then j.key end,
        fence = greatest(j.fence + 1, stamp)
    where j.ctid = any(array(select place from taken))
    returning j.id, j.fence, j.kind, j.payload::text, j.attempt, j.max_attempts, j.crashes, j.rank, j.owner, j.root, date_part('epoch', j.created_at) * 1000 as created_ms,
              j.lane, j.run, j.event, j.priority, j.trace, j.cost),
  left_over as materialized (
    select d.key, d.progress + coalesce(g.jobs, 0) / d.weight::double precision as progress, coalesce(g.jobs, 0) as jobs, coalesce(g.cost, 0) as cost, m.rank as more
    from door d
    left join (select s.lane, array_agg(s.id) as ids, count(*)::integer as jobs, sum(s.cost)::integer as cost from started s group by s.lane) g on g.lane = d.key
    left join lateral (
      select j.rank from sluice.job j
      where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) = sluice.queue_of(in_pool, d.key) and j.pool = in_pool and j.lane = d.key and j.rank >= d.low and j.worker is null and j.crashes < 2
        and j.id <> all(coalesce(g.ids, '{}'))
      order by j.rank, j.id limit 1) m on true),
  counted as (
    update sluice.lane l
    set in_flight = l.in_flight + o.jobs, in_flight_cost = l.in_flight_cost + o.cost, served_at = at, progress = case when o.more is not null then o.progress end
    from left_over o
    where l.key = any(keys) and l.key = o.key),
  served as (delete from sluice.turn t where t.lane = any(keys) and t.pool = in_pool),
  next as (insert into sluice.turn (pool, lane, low, served_at) select in_pool, key, more, at from left_over where more is not null)
  select exists (select from sluice.turn t where t.pool = in_pool and t.open and t.lane <> all(keys))
           or exists (select from left_over o where o.more is not null and o.jobs > 0),
         exists (select from left_over o where o.more is null),
         s.id, s.fence, s.kind, s.payload, s.attempt, s.max_attempts, s.crashes, s.rank, s.owner, s.root, s.created_ms, s.lane, s.run, s.event, s.priority, s.trace
  from (select 1) one left join started s on true;
end $$;

-- Up to `slots` ready jobs from the lanes that waited longest, each with its permits, and up to `ahead` more from lanes that count nothing: no permit and no
-- place under a cap is taken for a job that starts after others. Answers one row at least; `again` says that a lane was passed over
-- (somebody holds it, or there were too many) or had more, `moved` that closed or empty lanes were put out of the way: the next look sees others.
create function sluice.claim_laned(in_pool text, in_worker bigint, slots integer, ahead integer, lanes_max integer, unknown_kinds text[])
returns table (again boolean, moved boolean, id bigint, fence bigint, kind text, payload text, attempt smallint, max_attempts smallint, crashes smallint,
               rank bigint, owner text, root bigint, created_ms double precision, lane text, run bigint, event bigint, priority smallint, trace text)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
  set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  stamp bigint := date_part('epoch', at) * 1000000;
  skip text[];
  closed boolean;
  fresh text[];
  passed text[] := '{}';
  seen text[];
  keys text[];
  owners text[];
  capped text[];
  held text[];
  counts boolean;
  metered boolean;
  all_weights double precision;
  weights double precision;
  hindmost double precision;
  foremost double precision;
  behind double precision;
begin
  again := false;
  moved := false;
  select unknown_kinds || coalesce(array_agg(p.name) filter (where p.scope = 'kind'), '{}'), coalesce(bool_or(p.scope = 'pool' and p.name = in_pool), false)
  into skip, closed
  from sluice.pause p;
  perform from sluice.worker w where w.id = in_worker for key share;
  if closed or not found then return next; return; end if;

  -- Mostly once. A lane that somebody holds for long, or whose owner somebody holds, in an open transaction, may have all the turns that are looked at; then those behind it are.
  for pass in 1..64 loop
    -- Lanes that are not there yet: only of those whose turn comes now. To look through all turns for them took 20 ms a claim with 4,000 of them.
    select array_agg(f.lane order by f.served_at, f.first), array_agg(f.lane) filter (where f.weight is null), sum(f.weight), min(f.progress), max(f.progress)
    into seen, fresh, all_weights, hindmost, foremost
    from (select t.*, l.weight, l.progress
          from (select t.lane, min(t.served_at) as served_at, min(t.id) as first
                from (select t.lane, t.served_at, t.id from sluice.turn t where t.pool = in_pool and t.open and t.lane <> all(passed) order by t.served_at, t.id limit lanes_max) t
                group by t.lane) t
          left join lateral (select l.weight, l.progress from sluice.lane l where l.key = t.lane and (l.owner is not null or l.served_at > '-infinity') limit 1) l on true) f;
    if seen is null then return next; return; end if;
    passed := passed || seen;
    if fresh is not null then
      held := sluice.adopt_free_lanes(fresh);
      if held <> '{}' then
        again := true;
        seen := array(select s.lane from unnest(seen) with ordinality as s(lane, place) where s.lane <> all(held) order by s.place);
      end if;
    end if;
    -- First the locks, which never wait; then statements whose snapshots see all that earlier holders of these locks did. No more lanes than could get a job, those that are
    -- least far, and a few to spare: with all sixteen, a claim for one slot took half as long again.
    select array_agg(x.key), array_agg(x.owner) filter (where x.owner is not null), sum(x.weight), bool_or(x.counts), bool_or(x.metered)
    into keys, owners, weights, counts, metered
    from (select l.key, l.owner, l.weight, l.metered,
                 l.metered or coalesce(l.hold_until > at, false) or num_nonnulls(l.cap, l.breaker_after, l.broken_until, l.paused) > 0 as counts
          from sluice.lane l
          where l.key = any(seen)
          order by coalesce(l.progress, hindmost), array_position(seen, l.key)
          limit slots + ahead + 4
          for no key update skip locked) x;
    if owners is not null then
      -- A lane that was made just now is seen by nobody else yet, so that whoever lets its owner go on would not open it. Neither happens beside the other.
      held := case when fresh is not null then array(select o.name from sluice.owner o where o.name = any(owners) order by o.name for share skip locked) end;
      -- Whoever raises what runs for an owner with a cap holds the owner's row.
      capped := array(select o.name from sluice.owner o where o.name = any(owners) and o.cap is not null order by o.name for no key update skip locked);
      keys := (select array_agg(l.key) from sluice.lane l left join sluice.owner o on o.name = l.owner
               where l.key = any(keys) and (o.name is null or ((held is null or o.name = any(held)) and (o.cap is null or o.name = any(capped)))));
    end if;
    exit when keys is not null;
    again := true;
  end loop;
  if keys is null then
    return next;
    return;
  end if;
  -- Those that were passed over because somebody holds them, as every settle does for a moment, still get their share: it is kept for them, and nobody
  -- runs far ahead of them. One that is held for a second is not waited for.
  if not seen <@ keys then
    behind := (select min(l.progress) from sluice.lane l where l.key = any(seen) and l.key <> all(keys) and l.served_at > at - interval '1 s');
  end if;
  all_weights := greatest(all_weights, weights);
  -- As in sluice.claim; but a permit that was given must not be given again after a crash of the server.
  if not metered then perform set_config('synchronous_commit', 'off', true); end if;
  if not counts and ahead >= lanes_max and (owners is null or not exists (select from sluice.owner o where o.name = any(owners))) then
    return query select * from sluice.take_plain(in_pool, in_worker, slots + ahead, keys, all_weights, hindmost, foremost, behind, skip, at);
    return;
  end if;

  return query
  with door as materialized (
    select l.key, l.owner, l.weight, t.low, t.served_at, t.turns > 1 and t.served_at > '-infinity' as untidy, array_position(seen, l.key) as nth,
           sluice.room(l, o, at) as room, sluice.permits(l, at) as permits, sluice.opening(l, o, at) as opens_at,
           case when o.cap is not null then o.cap - (select sum(s.in_flight) from sluice.lane s where s.owner = o.name) end as owner_room,
           ceil((slots + ahead) * l.weight / greatest(all_weights, sum(l.weight) over ()))::integer as share,
           l.metered or num_nonnulls(l.cap, l.breaker_after, l.broken_until, o.cap) > 0 as counts,
           -- Who was away (its row was locked, other pools served it) catches up, but not with more than 1,000 jobs.
           greatest(coalesce(l.progress, hindmost, 0), foremost - 1000) as progress
    from sluice.lane l
    cross join lateral (select min(t.low) as low, min(t.served_at) as served_at, count(*) as turns from sluice.turn t where t.lane = l.key and t.pool = in_pool) t
    left join sluice.owner o on o.name = l.owner
    where l.key = any(keys)),
  queued as materialized (
    select d.key, d.owner, d.permits, d.owner_room, d.nth, d.counts, j.id, j.cost, d.progress + (row_number() over w - 1) / d.weight::double precision as place, sum(j.cost) over w as need
    from door d
    cross join lateral (
      select j.id, j.cost, j.rank from sluice.job j
      where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) = sluice.queue_of(in_pool, d.key) and j.pool = in_pool and j.lane = d.key and j.rank >= d.low and j.worker is null and j.crashes < 2 and j.kind <> all(skip)
        and (j.owner is null or j.owner = d.owner or not exists (select from sluice.owner o where o.name = j.owner and sluice.owner_closed(o, at)))
      order by j.rank, j.id
      limit greatest(least(d.room, d.permits, d.share, d.owner_room, ceil((behind - d.progress) * d.weight)::integer + d.share), 0)
      for update skip locked) j
    window w as (partition by d.key order by j.rank, j.id)),
  taken as materialized (
    select q.key, q.id, q.cost
    from (select key, id, cost, place, nth from queued where not counts
          union all
          select key, id, cost, place, nth
          from (select q.*, row_number() over (partition by q.owner order by q.place, q.nth) as owner_place,
                       row_number() over (order by q.place, q.nth) as counted_place
                from queued q where q.counts and q.need <= q.permits) q
          where (owner_room is null or owner_place <= owner_room) and counted_place <= slots) q
    order by q.place, q.nth
    limit slots + ahead),
  got as materialized (
    select t.key, array_agg(t.id) as ids, count(*)::integer as jobs, sum(t.cost)::integer as cost from taken t group by t.key),
  left_over as materialized (
    select d.key, d.progress + coalesce(g.jobs, 0) / d.weight::double precision as progress, coalesce(g.jobs, 0) as jobs, coalesce(g.cost, 0) as cost, m.rank as more,
           m.rank is not null and (d.room - coalesce(g.jobs, 0) < 1 or d.permits - coalesce(g.cost, 0) < m.cost
                                   or coalesce(d.owner_room - coalesce(sum(g.jobs) over (partition by d.owner), 0) < 1, false)) as filled,
           d.opens_at, d.served_at, d.untidy, g.key is null and exists (select from queued q where q.key = d.key) as passed
    from door d
    left join got g on g.key = d.key
    left join lateral (
      select j.rank, j.cost from sluice.job j
      where j.shelf is null and j.parcel is null and sluice.queue_of(j.pool, j.lane) = sluice.queue_of(in_pool, d.key) and j.pool = in_pool and j.lane = d.key and j.rank >= d.low and j.worker is null and j.crashes < 2
        and j.id <> all(coalesce(g.ids, '{}'))
      order by j.rank, j.id limit 1) m on true),
  -- Passed over for want of slots: it waits on as it is, and is written only if its turns have piled up, which would fill the view. A lane whose jobs nobody may take now
  -- goes to the back like those that were served.
  moved_on as materialized (
    select o.key, o.passed, o.progress, o.jobs, o.cost, o.more, o.filled, o.opens_at, case when o.passed then o.served_at else at end as served_at
    from left_over o
    where not o.passed or o.filled or o.untidy),
  started as (
    update sluice.job j
    set attempt = j.attempt + 1, worker = in_worker, started_at = at, key = case when j.key_rule = 'start' then null else j.key end, let_go = case when j.key_rule = 'start' then j.key end,
        fence = greatest(j.fence + 1, stamp)
    where j.id = any(array(select id from taken))
    returning j.id, j.fence, j.kind, j.payload::text, j.attempt, j.max_attempts, j.crashes, j.rank, j.owner, j.root, date_part('epoch', j.created_at) * 1000,
              j.lane, j.run, j.event, j.priority, j.trace),
  counted as (
    update sluice.lane l
    set in_flight = l.in_flight + o.jobs, in_flight_cost = l.in_flight_cost + o.cost, served_at = case when o.passed then l.served_at else at end,
        progress = case when o.more is not null and not o.filled then o.progress end,
        remaining = case when l.reset_at <= at and o.jobs > 0 then null else l.remaining - o.cost end,      -- unknown from the probe on, not before
        shut = l.shut or o.filled,
        -- The row as it will be decides: with the permits this claim takes, the clock may have to open it.
        opens_at = case when o.filled then coalesce(o.opens_at, case when l.metered and l.remaining is not null and l.reset_at > at
                                                                      and l.in_flight + o.jobs < coalesce(l.cap, 2147483647) then l.reset_at end) else l.opens_at end
    from moved_on o
    where l.key = any(keys) and l.key = o.key),
  served as (delete from sluice.turn t where t.lane = any(array(select key from moved_on)) and t.pool = in_pool),
  next as (
    insert into sluice.turn (pool, lane, open, low, served_at) select in_pool, key, not filled, more, served_at from moved_on where more is not null)
  select exists (select from sluice.turn t where t.pool = in_pool and t.open and t.lane <> all(keys))
           or exists (select from left_over o where o.more is not null and not o.filled and o.jobs > 0),
         exists (select from left_over o where o.more is null or o.filled),
         s.*
  from (select 1) one left join started s on true;
  -- The leader sleeps until the next due time; what this claim closed may open sooner.
  perform sluice.wake(null, sluice.next_opening(keys));
end $$;
