-- Taking jobs out. Plans must not depend on statistics (a queue table is empty when it is analyzed and full a minute later),
-- so these functions pin their planner settings and reach rows by "= any(array)".

-- Up to `slots` ready jobs of one pool for one worker, best rank first. `since` starts the scan past dead index entries: it is a bound the caller
-- learned from an earlier claim. The commit is asynchronous: a claim lost in a crash of the server just runs again, and its fence, seeded by the
-- clock, can never be issued twice.
create function sluice.claim(in_pool text, in_worker bigint, slots integer, since bigint, unknown_kinds text[])
returns table (id bigint, fence bigint, kind text, payload text, attempt smallint, max_attempts smallint, crashes smallint, rank bigint,
               owner text, root bigint, created_ms double precision, run bigint, event bigint, priority smallint, trace text)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  skip text[];
  closed boolean;
  owned boolean;
  at timestamptz := sluice.now();
  stamp bigint := date_part('epoch', at) * 1000000;
  -- The place in the order, (rank, id), of the next parcel and of the next entry. A parcel's is that of the first that may wait in it: the entry of a job that left it goes before what it still has.
  parcel_rank bigint;
  parcel_id bigint;
  reached bigint;
  entry_rank bigint := since;
  entry_id bigint := 0;
  the_end constant bigint := 9223372036854775807;
  packed boolean;
  wanted integer := slots;
  got integer;
  -- Here and not by "perform": what is assigned needs no statement of its own, and a claim of one job consists of little else.
  commits constant text := set_config('synchronous_commit', 'off', true);
begin
  -- The rescuer deletes the row of a dead process together with its claims: whoever holds the row cannot be rescued in between, and whoever finds
  -- it gone claims nothing.
  select unknown_kinds || array(select p.name from sluice.pause p where p.scope = 'kind'), exists (select from sluice.pause p where p.scope = 'pool' and p.name = in_pool),
         exists (select from sluice.owner), p.rank, p.next
  into skip, closed, owned, parcel_rank, parcel_id
  from sluice.worker w
  left join lateral (
    select p.rank, p.next from sluice.parcel p
    where p.pool = in_pool and p.rank >= since and p.next <= p.last and p.kind <> all(unknown_kinds) order by p.rank, p.id limit 1) p on true
  where w.id = in_worker
  for key share of w;
  if closed is not false then return; end if;
  if owned then perform sluice.move_owned(in_pool, since); end if;
  packed := parcel_rank is not null;
  reached := parcel_rank;
  -- Entries up to the next parcel, parcels up to the next entry, and so on; almost always one of the two is all there is.
  loop
    return query
    update sluice.job j
    set attempt = j.attempt + 1,
        worker = in_worker,
        started_at = at,
        key = case when j.key_rule = 'start' then null else j.key end, let_go = case when j.key_rule = 'start' then j.key end,
        fence = greatest(j.fence + 1, stamp)
    where j.id = any(array(
      select r.id
      from sluice.job r
      where r.shelf is null and r.parcel is null and sluice.queue_of(r.pool, r.lane) = sluice.queue_of(in_pool, '') and (r.rank, r.id) >= (entry_rank, entry_id) and (r.rank, r.id) <= (coalesce(parcel_rank, the_end), coalesce(parcel_id, the_end))
        and r.worker is null and r.pool = in_pool and r.lane = '' and r.crashes < 2 and r.kind <> all(skip)
        and (r.owner is null or not exists (select from sluice.owner o where o.name = r.owner))
      order by r.rank, r.id
      limit wanted
      for update skip locked))
    returning j.id, j.fence, j.kind, j.payload::text, j.attempt, j.max_attempts, j.crashes, j.rank, j.owner, j.root,
              date_part('epoch', j.created_at) * 1000, j.run, j.event, j.priority, j.trace;
    exit when parcel_rank is null;
    get diagnostics got = row_count;
    wanted := wanted - got;
    exit when wanted <= 0;
    select r.rank, r.id into entry_rank, entry_id
    from sluice.job r
    where r.shelf is null and r.parcel is null and sluice.queue_of(r.pool, r.lane) = sluice.queue_of(in_pool, '') and (r.rank, r.id) > (parcel_rank, parcel_id) and r.worker is null
      and r.pool = in_pool and r.lane = '' and r.crashes < 2 and r.kind <> all(skip)
    order by r.rank, r.id
    limit 1;
    return query select * from sluice.claim_parcels(in_pool, in_worker, wanted, parcel_rank, coalesce(entry_rank, the_end), coalesce(entry_id, the_end), skip, at);
    get diagnostics got = row_count;
    wanted := wanted - got;
    exit when entry_rank is null or wanted <= 0;
    select p.rank, p.next into parcel_rank, parcel_id
    from sluice.parcel p
    where p.pool = in_pool and p.rank >= entry_rank and (p.rank, p.next) >= (entry_rank, entry_id) and p.next <= p.last and p.kind <> all(skip)
    order by p.rank, p.id
    limit 1;
    reached := coalesce(parcel_rank, reached);
  end loop;
  -- Not beyond: of those that wait there may be any number.
  if packed then perform sluice.clear_parcels(in_pool, since, reached); end if;
end $$;

-- Jobs of an owner with limits that name no lane belong into the owner's own, where its limits are counted. Those that came before the limits are moved when
-- somebody meets them; the open lane never runs them. `ids` are such jobs; those in somebody's hand stay.
create function sluice.into_own_lanes(ids bigint[]) returns sluice.ready_job[]
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  moved sluice.ready_job[];
begin
  with moved as (
    update sluice.job j set lane = 'owner:' || j.owner
    where j.id = any(array(
      select r.id from sluice.job r
      where r.id = any(ids) and sluice.state_of(r.shelf, r.worker) = 'ready' and r.lane = ''
      for update skip locked))
    returning j.pool, j.lane, j.rank)
  select array_agg(row(m.pool, m.lane, m.rank)::sluice.ready_job) into moved from moved m;
  return moved;
end $$;

-- Those at the head of the open lane.
create function sluice.move_owned(in_pool text, since bigint) returns void
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  moved sluice.ready_job[] := sluice.into_own_lanes(array(
    select h.id
    from (select h.id, h.owner from sluice.job h
          where h.shelf is null and h.parcel is null and sluice.queue_of(h.pool, h.lane) = sluice.queue_of(in_pool, '') and h.rank >= since and h.worker is null and h.pool = in_pool and h.lane = ''
          order by h.rank, h.id limit 1000) h
    where h.owner is not null and exists (select from sluice.owner o where o.name = h.owner)));
begin
  -- There may be more of them: the next look goes on.
  if moved is not null then perform sluice.wake(sluice.line_up(moved) || ('ready:' || in_pool), null); end if;
end $$;

-- Suspects, of all pools: where Redis hands out the open lane, nobody looks at its head.
create function sluice.move_suspects() returns void
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  moved sluice.ready_job[] := sluice.into_own_lanes(array(
    select j.id from sluice.job j
    where j.crashes >= 2 and sluice.state_of(j.shelf, j.worker) = 'ready' and j.lane = '' and exists (select from sluice.owner o where o.name = j.owner)));
begin
  if moved is null then return; end if;
  perform sluice.wake(sluice.line_up(moved), null);
  perform sluice.adopt_free_lanes(array(select distinct m.lane from unnest(moved) as m order by 1));
end $$;

-- A suspect was held by two processes that died. It runs again alone, so that a third death speaks for itself.
create function sluice.claim_suspect(in_worker bigint, pools text[])
returns table (id bigint, fence bigint, kind text, payload text, attempt smallint, max_attempts smallint, crashes smallint, rank bigint,
               owner text, root bigint, created_ms double precision, run bigint, event bigint, priority smallint, trace text, lane text)
language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
#variable_conflict use_column
declare
  at timestamptz := sluice.now();
  known text[];
  one record;
  capped text;
begin
  -- Not even for a moment by a process that does not know its kind, and would only give it back: a death in that moment would be the one that speaks for itself.
  select w.kinds into known from sluice.worker w where w.id = in_worker for key share;
  if not found then return; end if;
  select r.id, r.lane, r.cost into one
  from sluice.job r
  where r.crashes >= 2 and sluice.state_of(r.shelf, r.worker) = 'ready' and r.pool = any(pools) and r.kind = any(known)
    and not exists (select from sluice.pause p where (p.scope = 'kind' and p.name = r.kind) or (p.scope = 'pool' and p.name = r.pool))
    and not exists (select from sluice.owner o where o.name = r.owner and (sluice.owner_closed(o, at) or r.lane = ''))
    -- Looked at before the lock, to find one that may run; decided below.
    and (r.lane = '' or exists (select from sluice.lane l left join sluice.owner o on o.name = l.owner
                                where l.key = r.lane and sluice.room(l, o, at) > 0 and sluice.permits(l, at) >= r.cost
                                  and (o.cap is null or o.cap > (select sum(s.in_flight) from sluice.lane s where s.owner = o.name))))
  order by r.id
  limit 1
  for update of r skip locked;
  if not found then return; end if;
  if one.lane <> '' then
    -- Whoever raises what runs for an owner with a cap holds the owner's row; then lock, then look.
    select o.name into capped from sluice.owner o where o.cap is not null and o.name = (select l.owner from sluice.lane l where l.key = one.lane) for no key update;
    perform from sluice.lane l where l.key = one.lane for no key update;
    update sluice.lane l set in_flight = l.in_flight + 1, in_flight_cost = l.in_flight_cost + one.cost, remaining = case when l.reset_at <= at then null else l.remaining - one.cost end
    where l.key = one.lane and sluice.permits(l, at) >= one.cost
      and sluice.room(l, (select o from sluice.owner o where o.name = l.owner), at) > 0
      and not exists (select from sluice.owner o
                      where o.name = l.owner and (o.name is distinct from capped and o.cap is not null
                                                  or o.cap <= (select sum(s.in_flight) from sluice.lane s where s.owner = o.name)));
    if not found then return; end if;
  end if;
  return query
  update sluice.job j
  set attempt = j.attempt + 1, worker = in_worker, started_at = at,
      key = case when j.key_rule = 'start' then null else j.key end, let_go = case when j.key_rule = 'start' then j.key end,
      fence = greatest(j.fence + 1, (date_part('epoch', at) * 1000000)::bigint)
  where j.id = one.id
  returning j.id, j.fence, j.kind, j.payload::text, j.attempt, j.max_attempts, j.crashes, j.rank, j.owner, j.root, date_part('epoch', j.created_at) * 1000, j.run, j.event,
            j.priority, j.trace, j.lane;
end $$;
