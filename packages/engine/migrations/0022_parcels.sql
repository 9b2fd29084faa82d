-- Parcels: jobs that were stored together have one entry in the queue, which is a tenth of what storing them costs (docs/adr/0020). A member was never claimed, or runs since its first
-- claim; whoever comes back in any other way has an entry of its own, and the check of sluice.job holds that. So what waits in a parcel only grows less, and nobody needs a lock to look:
-- a look that is too old finds more than there is, never less.

-- What a claim takes of the parcels from rank `low` on, up to the entry at (`high`, `before`); the caller pins the planner. What somebody else is just claiming is passed by and stays in its parcel: until he commits
-- it is seen as waiting.
create function sluice.claim_parcels(in_pool text, in_worker bigint, slots integer, low bigint, high bigint, before bigint, skip text[], at timestamptz)
returns table (id bigint, fence bigint, kind text, payload text, attempt smallint, max_attempts smallint, crashes smallint, rank bigint,
               owner text, root bigint, created_ms double precision, run bigint, event bigint, priority smallint, trace text)
language plpgsql
as $$
#variable_conflict use_column
declare
  stamp bigint := date_part('epoch', at) * 1000000;
  ids bigint[];
  until bigint;
begin
  select array_agg(x.id), max(x.rank) into ids, until
  from (select m.id, p.rank
        from (select p.id, p.rank, p.next, p.last from sluice.parcel p
              where p.pool = in_pool and p.rank between low and high and (p.rank, p.next) < (high, before) and p.next <= p.last and p.kind <> all(skip)
              order by p.rank, p.id offset 0) p
        cross join lateral (
          select j.id from sluice.job j
          where j.id between p.next and p.last and j.parcel = p.id and j.worker is null
          order by j.id
          for update skip locked) m
        limit slots) x;
  if ids is not null then
    return query
    update sluice.job j
    set attempt = j.attempt + 1, worker = in_worker, started_at = at, fence = greatest(j.fence + 1, stamp)
    where j.id = any(ids)
    returning j.id, j.fence, j.kind, j.payload::text, j.attempt, j.max_attempts, j.crashes, j.rank, j.owner, j.root,
              date_part('epoch', j.created_at) * 1000, j.run, j.event, j.priority, j.trace;
  end if;
  perform sluice.tidy_parcels(in_pool, low, case when cardinality(ids) = slots then until else high end, skip);
end $$;

-- Moves parcels on to the first that waits; from one in somebody's hand whoever looks next does. Those that stand at one that waits are passed by, however many there are. Answers how many it moved.
create function sluice.tidy_parcels(in_pool text, low bigint, high bigint, skip text[] default '{}') returns integer
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  moved integer;
begin
  update sluice.parcel p
  set next = coalesce((select j.id from sluice.job j where j.id between p.next and p.last and j.parcel = p.id and j.worker is null order by j.id limit 1), p.last + 1)
  where p.ctid = any(array(
    select q.ctid from sluice.parcel q
    where q.pool = in_pool and q.rank between low and high and q.next <= q.last and q.kind <> all(skip)
      and not exists (select from sluice.job j where j.id = q.next and j.parcel = q.id and j.worker is null)
    order by q.rank, q.id limit 1000 for update skip locked));
  get diagnostics moved = row_count;
  return moved;
end $$;

-- Parcels that have nothing left go when the last of their jobs is over: until then whoever looks for the jobs of a process finds them there. Answers how many went.
create function sluice.clear_parcels(in_pool text, low bigint, high bigint) returns integer
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  gone integer;
begin
  delete from sluice.parcel p
  where p.ctid = any(array(
    select q.ctid from sluice.parcel q
    where q.pool = in_pool and q.rank between low and high and q.next > q.last
      and not exists (select from sluice.job j where j.id between q.first and q.last and j.parcel = q.id)
    order by q.rank, q.id limit 2000 for update skip locked));
  get diagnostics gone = row_count;
  return gone;
end $$;

-- Who claims by ids (0018) moves on the parcels that they lay in.
create function sluice.tidy_after(in_pool text, ids bigint[], in_worker bigint, at timestamptz) returns void
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  ranks record;
begin
  if not exists (select from sluice.parcel p where p.pool = in_pool) then return; end if;
  select min(j.rank) as low, max(j.rank) as high into ranks from sluice.job j where j.id = any(ids) and j.parcel is not null and j.worker = in_worker and j.started_at = at;
  if ranks.low is null then return; end if;
  perform sluice.tidy_parcels(in_pool, ranks.low, ranks.high);
  perform sluice.clear_parcels(in_pool, ranks.low - 60000, ranks.high);      -- what ran until now; the leader looks at the rest
end $$;

-- A loose scan: one step of the index for each pool.
create function sluice.pools_of_parcels() returns setof text
language sql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
  with recursive packed as (
    (select p.pool from sluice.parcel p order by p.pool limit 1)
    union all
    select (select p.pool from sluice.parcel p where p.pool > q.pool order by p.pool limit 1) from packed q where q.pool is not null)
  select pool from packed where pool is not null $$;

-- What claims leave behind, because nothing follows them; for the leader. Answers whether there may be more.
create function sluice.tidy_all_parcels() returns boolean
language plpgsql
as $$
declare
  one text;
  more boolean := false;
begin
  for one in select sluice.pools_of_parcels() loop
    more := sluice.tidy_parcels(one, -9223372036854775808, 9223372036854775807) >= 1000 or more;
    more := sluice.clear_parcels(one, -9223372036854775808, 9223372036854775807) >= 2000 or more;
  end loop;
  return more;
end $$;

-- Whether there is something of that kind, among the first of each pool.
create function sluice.parcels_are_over() returns boolean
language sql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
  select exists (
    select from sluice.pools_of_parcels() as n(pool)
    cross join lateral (select * from sluice.parcel p where p.pool = n.pool order by p.rank, p.id limit 8) p
    where not exists (select from sluice.job j where j.id between p.first and p.last and j.parcel = p.id)) $$;
